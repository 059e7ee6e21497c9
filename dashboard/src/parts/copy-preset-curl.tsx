/** Copies a call that a program makes with the preset, or the call of the API whose result the screen shows. */
import { curlOf } from '../curl.ts'
import type { Query } from '../api/path.ts'
import { toast } from '../shell/toasts.tsx'
import { copyText } from './copy.tsx'
import { Menu } from './menu.tsx'

export const CopyPresetCurl = ({ slug, query = {} }: { slug: string; query?: Query }) => {
  const use = { model: `@preset/${slug}`, messages: [{ role: 'user', content: 'Hello!' }] }
  const calls = [
    ['A call that uses the preset', curlOf({ method: 'POST', path: '/chat/completions', body: use }, 'INFERENCE_KEY')],
    ['The call that reads it, for management', curlOf({ path: `/presets/${encodeURIComponent(slug)}`, query })],
  ] as const
  return (
    <Menu
      label="Copy as curl"
      button="Copy as curl ▾"
      items={calls.map(([label, text]) => ({
        label,
        onSelect: () => void copyText(text).then((copied) => (copied ? toast(`Copied as curl: ${label}.`) : undefined)),
      }))}
    />
  )
}
