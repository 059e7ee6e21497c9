/** The beginning of a text, at most `bytes` long in UTF-8; a character that would be split is left out. */
export const cutToBytes = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  const kept = new TextDecoder('utf-8').decode(Buffer.from(text).subarray(0, bytes))
  return kept.replace(/\uFFFD+$/, '')
}
