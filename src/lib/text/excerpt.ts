/** A text of at most `most` characters: a longer one keeps its beginning and its end, with `...` between them. No character is split. */
export const excerpt = (text: string, most: number): string => {
  if (text.length <= most) return text
  const kept = most - GAP.length
  const head = text.slice(0, Math.ceil(kept / 2)).replace(/[\uD800-\uDBFF]$/, '')
  const tail = text.slice(text.length - Math.floor(kept / 2)).replace(/^[\uDC00-\uDFFF]/, '')
  return head + GAP + tail
}

const GAP = '...'
