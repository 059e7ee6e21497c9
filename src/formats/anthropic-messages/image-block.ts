import type { JsonObject } from '../../lib/json/json.ts'

/** An image in the form of requests, because answers of this dialect have none. */
export const imageBlock = (url: string): JsonObject => {
  const inline = /^data:([^;,]+);base64,/.exec(url)
  const source =
    inline?.[1] === undefined ? { type: 'url', url } : { type: 'base64', media_type: inline[1], data: url.slice(inline[0].length) }
  return { type: 'image', source }
}
