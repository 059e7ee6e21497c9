/** Creates a preset from a request body as programs send it, typed here or read from a file. */
import { useState } from 'react'

import { type PresetShape, savePresetDraft } from '../../api/presets.ts'
import { Field } from '../../parts/field.tsx'
import { PresetDialog } from '../../playing/preset-dialog.tsx'
import { parseSettings } from '../../playing/settings-fields.ts'
import { readCurl } from './read-curl.ts'

const EXAMPLE = `{
  "model": "sandbox/echo",
  "messages": [
    { "role": "system", "content": "You answer politely and briefly." }
  ]
}`

/** Each interface has a field that the others do not have. */
const shapeOf = (body: Readonly<Record<string, unknown>>): PresetShape =>
  'input' in body || 'instructions' in body || 'max_output_tokens' in body ? 'responses' : 'system' in body ? 'messages' : 'chat'

export const NewPreset = ({ isFile, onClose }: { isFile: boolean; onClose: () => void }) => {
  const [text, setText] = useState(EXAMPLE)
  const [shape, setShape] = useState<PresetShape | null>(null)
  const read = parseSettings(text)
  /** The body alone is kept if the text is a command for curl, and not its key. */
  const change = (written: string): void => {
    const curl = readCurl(written)
    setText(curl?.body ?? written)
    if (curl?.shape) setShape(curl.shape)
  }
  const chosen = shape ?? ('value' in read ? shapeOf(read.value) : 'chat')
  return (
    <PresetDialog
      title="New preset"
      action="Create"
      save={async (target) => {
        if ('fault' in read) throw new Error(read.fault)
        return await savePresetDraft(target, { shape: chosen, body: read.value, note: '' })
      }}
      onClose={onClose}
    >
      {isFile ? (
        <Field label="File" hint="The body of a request as JSON. It is shown below before anything is saved.">
          <input type="file" accept=".json,application/json" onChange={(event) => void event.target.files?.[0]?.text().then(setText)} />
        </Field>
      ) : null}
      <Field
        label="Body of a request"
        hint="As programs send it, or the whole command for curl. Messages of users are not kept."
        fault={'fault' in read ? read.fault : null}
      >
        <textarea rows={9} value={text} onChange={(event) => change(event.target.value)} spellCheck={false} />
      </Field>
      <Field label="Interface">
        <select value={chosen} onChange={(event) => setShape(event.target.value as PresetShape)}>
          <option value="chat">Chat Completions</option>
          <option value="responses">Responses</option>
          <option value="messages">Messages</option>
        </select>
      </Field>
    </PresetDialog>
  )
}
