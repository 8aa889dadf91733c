import Foundation

// A reader that went away is an error of the write, not a signal that kills us.
signal(SIGPIPE, SIG_IGN)
exit(Commands.run(Array(CommandLine.arguments.dropFirst())).rawValue)
