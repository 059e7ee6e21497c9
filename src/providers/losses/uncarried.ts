/** Refuses or leaves out a part that cannot be given to a provider. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { noFile } from '../media/no-file.ts'
import type { Target } from '../provider.ts'
import type { Losses } from './losses.ts'

interface Place {
  readonly at: string
  readonly role: Message['role']
}

const WORDS: Readonly<Partial<Record<Part['type'], string>>> = {
  image: 'picture',
  file: 'file',
  audio: 'sound',
  video: 'film',
  reasoning: 'thinking',
  'tool-call': 'call of a tool',
  'tool-result': 'result of a tool',
}

/** Types of the parts that may name a file by its id. */
const FILE_KINDS: ReadonlySet<string> = new Set(['file', 'input_file', 'image', 'input_image', 'document'])

/**
 * A part that the client asks the model about must not be missing from the request, so it is refused, naming the part. A part of the
 * assistant, or one that means nothing without its provider, is left out and reported. `why` follows the provider's name.
 */
export const uncarried = (
  part: Part,
  { at, role }: Place,
  { lose, refuse, target }: Pick<Losses, 'lose' | 'refuse'> & { readonly target: { readonly providerName: string } },
  why = `takes no ${part.type === 'unknown' ? `part of type ${part.kind}` : (WORDS[part.type] ?? part.type)} here`,
): void => {
  const { providerName } = target
  const asked = part.type === 'unknown' ? part.content === true : MEDIA.has(part.type)
  const place = part.type === 'unknown' ? part.at : at
  if (!asked || role === 'assistant') lose(place, `${providerName} ${why}; it was left out.`)
  else if (part.type === 'unknown' && FILE_KINDS.has(part.kind)) refuse(place, noFile(providerName, part.fileId ?? null))
  else refuse(place, `${providerName} ${why}, and without it the request would mean something else.`)
}

/** Refuses audio and video for a model that is known not to take them, because some servers ignore what they do not know. */
export const refuseUnread = (
  part: Part,
  place: Place,
  context: Pick<Losses, 'lose' | 'refuse'> & { readonly target: Pick<Target, 'providerName' | 'inputModalities'> },
): void => {
  const { inputModalities: reported } = context.target
  if (reported === null || reported === undefined || (part.type !== 'audio' && part.type !== 'video') || reported.includes(part.type))
    return
  uncarried(part, place, context, `has a model here that takes no ${part.type}`)
}

const MEDIA: ReadonlySet<Part['type']> = new Set(['image', 'file', 'audio', 'video'] as const)
