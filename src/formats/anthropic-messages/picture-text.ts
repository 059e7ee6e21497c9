/**
 * A picture that the model drew, in an answer of Messages. That dialect has no block for it, and typed clients give up an answer with a
 * block of an unknown type, so it is a text of its own in Markdown. If it comes back as it is, it is the picture again (decisions/0270).
 */

/** `url`: https:// or data:. */
export const pictureText = (url: string): string => `![image](${url})`

/** The URL of the picture; null for any other text, such as one with a picture by its address, which a model may have written itself. */
export const pictureIn = (text: string): string | null => {
  if (!text.startsWith(START) || text.indexOf(')') !== text.length - 1) return null
  return DATA.test(text.slice(START.length, START.length + HEAD_MAX)) ? text.slice(START.length, -1) : null
}

const START = '![image]('
const DATA = /^data:image\/[\w.+-]+;base64,/
/** Pictures are large, so that only their beginning is matched. */
const HEAD_MAX = 64
