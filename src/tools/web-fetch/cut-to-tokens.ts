/** About as many tokens as a model counts: four letters of an alphabet are one, and so is each sign of other scripts. */
export const cutToTokens = (text: string, tokens: number): { readonly text: string; readonly cut: boolean } => {
  const quarters = tokens * 4
  // Nothing weighs more than one token a unit.
  if (text.length <= tokens) return { text, cut: false }
  let weight = 0
  for (let at = 0; at < text.length; at += 1) {
    weight += text.charCodeAt(at) < FIRST_DENSE ? 1 : 4
    if (weight > quarters) return { text: text.slice(0, isHalf(text, at) ? at - 1 : at), cut: true }
  }
  return { text, cut: false }
}

/** From here on come the scripts of East Asia, and signs such as emoji. */
const FIRST_DENSE = 0x2e80

/** Says whether a cut here would part a character. */
const isHalf = (text: string, at: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1))
