/**
 * True if a name matches a pattern in which `*` stands for any text, ignoring case. The time is linear in both lengths, even for hostile
 * input.
 */
export const matchesPattern = (pattern: string, name: string): boolean => {
  const parts = pattern.toLowerCase().split('*')
  const text = name.toLowerCase()
  const first = parts[0] ?? ''
  if (parts.length === 1) return text === first
  const last = parts.at(-1) ?? ''
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
