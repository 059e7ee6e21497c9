/** Writes files that hold people's own work: a write that fails leaves such a file as it was. */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs'

/**
 * Writes the text into the file at `path`, which may be a link or mounted by itself, so it is not replaced by another file. If the write
 * fails, as on a full disk, the file has its old text again, or is removed if it is new: a half of it could be read, and would say what
 * nobody wrote. Throws the system's error, with the path.
 */
export const replaceFile = (path: string, text: string): void => {
  const before = existsSync(path) ? readFileSync(path) : null
  // A link may lead to a file that does not exist yet.
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT)
  const bytes = Buffer.from(text)
  let written = 0
  try {
    while (written < bytes.byteLength) written += writeSync(file, bytes, written, bytes.byteLength - written, written)
    // Some file systems report only here that the disk is full.
    fsyncSync(file)
    // Last, so that until here only the written bytes have to be put back, for which there is room.
    ftruncateSync(file, bytes.byteLength)
  } catch (thrown) {
    if (before === null) rmSync(realpathSync(path))
    else putBack(file, before, written)
    throw thrown instanceof Error ? Object.assign(thrown, { path }) : thrown
  } finally {
    closeSync(file)
  }
}

const putBack = (file: number, before: Uint8Array, written: number): void => {
  const most = Math.min(written, before.byteLength)
  let at = 0
  while (at < most) at += writeSync(file, before, at, most - at, at)
  ftruncateSync(file, before.byteLength)
}
