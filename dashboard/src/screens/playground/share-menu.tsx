/**
 * Links to the contents of the playground: with models and parameters, and, if contents are stored, with the request that holds the texts.
 */
import { newestGenerations, generation } from '../../api/generations.ts'
import { queryClient } from '../../api/query-client.ts'
import { copyText } from '../../parts/copy.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Menu } from '../../parts/menu.tsx'
import { toast } from '../../shell/toasts.tsx'

interface ShareMenuProps {
  /** The id of the last request of the first column; null before it ran. */
  readonly generationId: string | null
  /** Settings that the address leaves out. */
  readonly unlinked: readonly string[]
}

export const ShareMenu = ({ generationId, unlinked }: ShareMenuProps) => (
  <Menu
    label="Share"
    button="Share ▾"
    items={[
      { label: 'Copy link: models and settings', onSelect: () => void shareSettings(unlinked) },
      {
        label: 'Copy link with the texts',
        onSelect: () => void shareTexts(generationId).catch((thrown: unknown) => toast(messageOf(thrown))),
      },
    ]}
  />
)

const copyLink = async (link: string, words: string): Promise<void> => {
  if (await copyText(link)) toast(words)
}

const shareSettings = (unlinked: readonly string[]): Promise<void> => {
  const link = new URL(location.href)
  link.searchParams.delete('request')
  const more = unlinked.length === 0 ? '' : ` Nor does it hold ${unlinked.join(', ')}.`
  return copyLink(link.href, `Copied a link to the models and settings. It holds no texts.${more}`)
}

const shareTexts = async (id: string | null): Promise<void> => {
  if (id === null) return toast('Run it first: texts are shared as the request that they were sent with.')
  const { request_id: requestId } = await queryClient.fetchQuery(generation(id))
  const stored = await queryClient.fetchQuery({ ...newestGenerations({ request_id: requestId, has_content: true }, 1), staleTime: 0 })
  if (stored.length === 0) return toast('The texts of this request are not stored. Settings → Logging turns that on for new requests.')
  const link = new URL(location.href)
  link.searchParams.set('request', id)
  return copyLink(link.href, 'Copied a link to this request with its texts. Whoever opens it needs the right to read them.')
}
