/** Cuts a text to about this many tokens: four letters of an alphabet count as one token, and so does each character of dense scripts. */
export const cutToTokens = (text: string, tokens: number): { readonly text: string; readonly cut: boolean } => {
  const quarters = tokens * 4
  // No UTF-16 unit counts more than one token.
  if (text.length <= tokens) return { text, cut: false }
  let weight = 0
  for (let at = 0; at < text.length; at += 1) {
    weight += text.charCodeAt(at) < FIRST_DENSE ? 1 : 4
    if (weight > quarters) return { text: text.slice(0, isHalf(text, at) ? at - 1 : at), cut: true }
  }
  return { text, cut: false }
}

/** The first code of the East Asian scripts and of signs such as emoji. */
const FIRST_DENSE = 0x2e80

/** Returns true if a cut here would split a surrogate pair. */
const isHalf = (text: string, at: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1))
