/** The beginning of a text that is that long in UTF-8 at most; a character that the cut goes through is left out. */
export const cutToBytes = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  const kept = new TextDecoder('utf-8').decode(Buffer.from(text).subarray(0, bytes))
  return kept.replace(/\uFFFD+$/, '')
}
