/** The beginning of a text, at most `most` characters of it. A character that stands in two of them is not split. */
export const beginning = (text: string, most: number): string => {
  if (text.length <= most) return text
  return text.slice(0, isSplit(text, most) ? most - 1 : most)
}

const isSplit = (text: string, at: number): boolean => /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1))
