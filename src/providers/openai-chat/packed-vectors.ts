/**
 * Packs vectors in base64, for a client that asked for it at a server that writes numbers whatever it is asked: OpenAI's libraries ask for
 * base64 by themselves, and some read numbers as a vector of a quarter of the length, all zeros.
 */
import { startPace, type Steps } from '../../lib/steps.ts'

/** In valid JSON such a quoted word before a colon is the name of a member, at any depth and never inside a string. */
const VECTOR = /("embedding"\s*:\s*)(\[[^\]"[{]*\])/g

/** `data` is valid JSON. What is no list of numbers stays. */
export function* packedVectors(data: string): Steps<string> {
  const pieces: string[] = []
  let end = 0
  const isStep = startPace()
  for (const { 0: found, 1: name = '', 2: vector = '', index } of data.matchAll(VECTOR)) {
    const numbers = JSON.parse(vector) as readonly unknown[]
    if (numbers.every((number) => typeof number === 'number')) {
      pieces.push(data.slice(end, index), name, '"', packed(numbers), '"')
      end = index + found.length
    }
    if (isStep(found.length)) yield
  }
  return pieces.join('') + data.slice(end)
}

/** 32-bit floats, the lowest byte first, whatever the machine. */
const packed = (numbers: readonly number[]): string => {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [at, number] of numbers.entries()) bytes.writeFloatLE(number, at * 4)
  return bytes.toString('base64')
}
