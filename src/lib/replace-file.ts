/** Writes files that hold people's own work: a write that fails leaves such a file as it was. */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'

/**
 * Writes the text into the file at `path`, which may be a link or mounted by itself, so it is not replaced by another file. If the write
 * fails, as on a full disk, the file has its old text again, or is removed if it is new: a half of it could be read, and would say what
 * nobody wrote. Throws the system's error, with the path.
 */
export const replaceFile = (path: string, text: string): void => {
  const before = existsSync(path) ? readFileSync(path) : null
  const file = openSync(path, before === null ? 'wx' : 'r+')
  try {
    overwrite(file, Buffer.from(text))
  } catch (thrown) {
    if (before === null) rmSync(path)
    else overwrite(file, before)
    throw thrown instanceof Error ? Object.assign(thrown, { path }) : thrown
  } finally {
    closeSync(file)
  }
}

/** The old text needs no new room, so it can be written where the new one did not fit. */
const overwrite = (file: number, bytes: Uint8Array): void => {
  let at = 0
  while (at < bytes.byteLength) at += writeSync(file, bytes, at, bytes.byteLength - at, at)
  ftruncateSync(file, bytes.byteLength)
  // Some file systems report only here that the disk is full.
  fsyncSync(file)
}
