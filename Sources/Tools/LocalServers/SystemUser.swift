internal import Foundation

/// An account of the operating system that a server runs as.
package struct SystemUser: Equatable, Sendable {
    let name: String
    let id: uid_t
    let group: gid_t

    /// The user that PostgreSQL must run as: it refuses root, so root hands it to the account that its package made. Nil: as we are.
    static func forPostgres() throws -> SystemUser? {
        guard geteuid() == 0 else { return nil }
        guard let found = unsafe getpwnam("postgres") else {
            throw LocalServerError(
                "drover runs as root, PostgreSQL refuses to, and there is no system user postgres to run it as. "
                    + "Install it (apt-get install postgresql-15), or start drover as an ordinary user.")
        }
        return unsafe SystemUser(name: "postgres", id: found.pointee.pw_uid, group: found.pointee.pw_gid)
    }

    /// Makes a folder that only `user` (nil: we) can enter, or takes an existing one over; a link is not followed.
    static func makePrivate(_ path: String, for user: SystemUser?) throws {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw LocalServerError.failed("make", path, errno: errno) }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw LocalServerError.failed("open", path, errno: errno) }
        defer { close(descriptor) }
        let owner = user?.id ?? geteuid()
        guard fchown(descriptor, owner, user?.group ?? getegid()) == 0, fchmod(descriptor, 0o700) == 0 else {
            throw LocalServerError.failed("take possession of", path, errno: errno)
        }
    }

    /// Whether a folder belongs to `user` (nil: to us) and nobody else can enter it.
    static func isPrivate(_ path: String, to user: SystemUser?) -> Bool {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return false }
        return info.st_mode & S_IFMT == S_IFDIR && info.st_mode & 0o077 == 0 && info.st_uid == user?.id ?? geteuid()
    }
}
