/** Saves the contents of the playground as a preset. */
import { useState } from 'react'

import { savePresetDraft } from '../../api/presets.ts'
import { Field } from '../../parts/field.tsx'
import { type Asked, requestBody } from '../../playing/conversation-input.ts'
import { PresetDialog } from '../../playing/preset-dialog.tsx'

export const SavePreset = ({ asked, onClose }: { asked: Asked; onClose: () => void }) => {
  const [note, setNote] = useState('')
  const name = /^@preset\/([^@]+)/.exec(String(asked.settings['model']))?.[1]
  return (
    <PresetDialog
      title="Save as preset"
      action="Save"
      {...(name === undefined ? {} : { name })}
      explanation="The model, the system prompt and the settings are kept; the messages are not."
      save={(target) => savePresetDraft(target, { shape: asked.interface, body: requestBody({ ...asked, stream: false }), note })}
      onClose={onClose}
    >
      <Field label="Note" hint="What is different, for those who read the history.">
        <input value={note} onChange={(event) => setNote(event.target.value)} maxLength={500} />
      </Field>
    </PresetDialog>
  )
}
