/**
 * Media outside the conversation: members such as `images` or `multi_modal_data`, which some servers read and no dialect defines.
 * Their text is also counted as text, because it is unknown whether and how a server reads them.
 */
import { isObject } from '../lib/json/json.ts'
import { lookForName, mayName } from '../lib/text/may-name.ts'
import { isOnePiece, testInSteps } from '../lib/text/search-steps.ts'
import type { Steps } from '../lib/steps.ts'
import { type ConversationMedia, plainName } from './conversation-media.ts'
import { wordSet } from '../lib/text/word-set.ts'

type Stray = Pick<ConversationMedia, 'images' | 'linked'>

/** Returns true if this top-level member may hold media; `name` is in the form of `plainName`, `json` is the member's text. */
export function* mayHoldStrayMedia(name: string, json: string): Steps<boolean> {
  if (OTHER_FIELDS.has(name)) return false
  if (isMediaName(name)) return true
  if (isOnePiece(json)) return LINK_IN_JSON.test(json) || mayName(MEDIA_IN_JSON, json)
  return (yield* testInSteps(LINK_IN_JSON, json)) || (yield* lookForName(MEDIA_IN_JSON, json))
}

/** `name`: see `mayHoldStrayMedia`. */
export const strayMedia = (name: string, value: unknown): Stray => {
  const counted = { images: 0, linked: 0 }
  count(name, value, null, counted)
  return counted
}

/** Members that hold text, schemas or settings, or that belong to tools. */
const OTHER_FIELDS: ReadonlySet<string> = wordSet(`
  model models tools functions toolchoice toolconfig mcpservers plugins provider responseformat format text outputconfig
  outputformat schema jsonschema responseschema responsejsonschema responsemodalities guidedjson metadata modalities
  include audio imageconfig prediction logitbias stop stopsequences user trace
`)

const KINDS = 'image|picture|photo|screenshot|frame|audio|sound|video|media|multimodaldata|mmdata'
const MEDIA_NAME = new RegExp(`^(?:input|inline|initial|reference|raw)?(?:${KINDS})s?(?:url|uri|id|path|data|content|base64|b64|embed)?s?$`)
const MEDIA_IN_JSON = new RegExp(`"[^"]{0,20}(?:${KINDS}|multi_?modal|mm_?data|file_?id)[^"]{0,20}"\\s*:`, 'i')
const IMAGE_NAME = /image|picture|photo|screenshot|frame/
/** Names of members in which a file's id counts as media; text in a member named only `file` may be anything. */
const FILE_NAME = /^(?:file|document|attachment)s?ids?$/
const LINK_SOURCE = String.raw`\s*(?:https?|gs|s3|file|data):`
const LINK = new RegExp(`^${LINK_SOURCE}\\S*\\s*$`, 'i')
const LINK_IN_JSON = new RegExp(`"${LINK_SOURCE}`, 'i')

const isMediaName = (name: string): boolean => MEDIA_NAME.test(name) || FILE_NAME.test(name)

type Kind = keyof Stray

const kindNamed = (name: string): Kind | null => {
  if (!isMediaName(name)) return null
  return IMAGE_NAME.test(name) ? 'images' : 'linked'
}

/** `kind`: set inside a member with a media name, where each text counts as one medium; null elsewhere, where only a URL counts. */
const count = (name: string, value: unknown, kind: Kind | null, counted: { images: number; linked: number }): void => {
  if (OTHER_FIELDS.has(name)) return
  const own = kindNamed(name) ?? kind
  if (typeof value === 'string') {
    if (value !== '' && (own !== null || LINK.test(value))) counted[own ?? 'linked'] += 1
  } else if (Array.isArray(value)) for (const entry of value as unknown[]) count('', entry, own, counted)
  else if (isObject(value)) for (const [key, entry] of Object.entries(value)) count(plainName(key), entry, own, counted)
}
