/**
 * A large body is sent with its long values left out of its text, and put in as bytes: each as a part of the bytes in which the body came,
 * or encoded by itself.
 */
import { joinBytes } from '../join-bytes.ts'
import type { Steps } from '../steps.ts'
import { textPieces } from '../text/text-pieces.ts'
import { WHOLE_PARSE_MAX } from './json-limits.ts'
import type { JsonMember } from './json-scan.ts'
import type { JsonChanges } from './json.ts'

/** A member whose value is left out of the text: `put` is its place in the source, or its new text. */
export interface Slot {
  readonly key: string
  readonly put: JsonMember | string
}

/** A placeholder for a value that is put in later. */
export const SLOT = '"\\u0000value"'

/** A shorter value costs less as a part of the text than by itself. */
const SLOT_MIN = 1024

/** A shorter new value is encoded again as fast as it is copied. */
const COPY_MIN = WHOLE_PARSE_MAX

/** The members that are put in as bytes, in the order in which they stand in the changed body. */
export const slotsFor = (members: readonly JsonMember[], changes: JsonChanges): readonly Slot[] => {
  const kept = members.flatMap((member): Slot[] => {
    const change = Object.hasOwn(changes, member.key) ? changes[member.key] : undefined
    if (change === undefined) return member.end - member.start < SLOT_MIN ? [] : [{ key: member.key, put: member }]
    return isLong(change) ? [{ key: member.key, put: change }] : []
  })
  const added = Object.entries(changes).flatMap(([key, change]): Slot[] =>
    isLong(change) && !members.some((member) => member.key === key) ? [{ key, put: change }] : [],
  )
  return [...kept, ...added]
}

const isLong = (change: string | null | undefined): change is string => change !== null && change !== undefined && change.length >= COPY_MIN

/** The body as bytes. `between` is its text around the slots, in the held form: one piece more than there are slots. */
export function* fillSlots(source: Uint8Array, slots: readonly Slot[], between: readonly string[]): Steps<Uint8Array<ArrayBuffer>> {
  const inPlace = writeAround(source, slots, between)
  if (inPlace !== null) return inPlace
  const pieces: Uint8Array[] = []
  for (const [place, held] of between.entries()) {
    pieces.push(Buffer.from(held, 'latin1'))
    const put = slots[place]?.put
    if (put === undefined) continue
    if (typeof put !== 'string') {
      pieces.push(source.subarray(put.start, put.end))
      continue
    }
    yield
    yield* encodeText(put, pieces)
  }
  return yield* joinBytes(pieces)
}

/**
 * Overwrites what stands before and behind the one long member of `source`, if the new text fits there: most names of a model are shorter
 * for their provider. Copying the member would cost more than all else that is done to the body.
 */
const writeAround = (
  source: Uint8Array,
  [slot, ...others]: readonly Slot[],
  [before, behind]: readonly string[],
): Uint8Array<ArrayBuffer> | null => {
  if (slot === undefined || typeof slot.put === 'string' || others.length > 0 || before === undefined || behind === undefined) return null
  const { start, end } = slot.put
  if (before.length > start || behind.length > source.byteLength - end || !(source.buffer instanceof ArrayBuffer)) return null
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  bytes.write(before, start - before.length, 'latin1')
  bytes.write(behind, end, 'latin1')
  return bytes.subarray(start - before.length, end + behind.length)
}

/** Encodes a long text in steps. The engine joins its pieces when the first character is read. */
function* encodeText(text: string, pieces: Uint8Array[]): Steps<void> {
  for (const piece of textPieces(text, ENCODED_AT_ONCE)) {
    pieces.push(Buffer.from(piece))
    yield
  }
}

const ENCODED_AT_ONCE = 4 * 1024 * 1024
