import Foundation

// A reader that went away is an error of the write, not a signal that kills us.
signal(SIGPIPE, SIG_IGN)
// What we write is read by nobody else on this machine, unless it is opened to them: data, logs, spools, sockets, reports.
umask(umask(0) | 0o077)
exit(Commands.run(Array(CommandLine.arguments.dropFirst())).rawValue)
