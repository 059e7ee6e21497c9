/** The errors that storage throws for reasons that are not bugs. Higher layers choose what follows: 409, 503, or a refused start. */

/** Others held the lock, or won the race, for longer than retries last. Nothing was written; the same call may be made again. */
export class StorageConflict extends Error {
  override readonly name = 'StorageConflict'
  constructor(cause: unknown) {
    super('The storage was locked by others for too long.', { cause })
  }
}

/** The database cannot be reached or does not answer. If this happens during a commit, the outcome is unknown. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable'
}

/** The database's file is no longer where it was when it was opened: what is written to it would be lost with this process. */
export class DatabaseFileLost extends StorageUnavailable {}

/** The database must not be opened by this program, now or at all. The message is one sentence for the operator. */
export class StorageRefused extends Error {
  override readonly name = 'StorageRefused'
}

/** The database lacks migrations of this version, and this process is not to make them. */
export class StorageOlder extends StorageRefused {}
