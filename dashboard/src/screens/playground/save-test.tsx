/** Saves the conversation as an input for trying and evaluating a preset. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useId, useState } from 'react'

import { presetNames, savePresetTest } from '../../api/presets.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Field } from '../../parts/field.tsx'
import { type Asked, testInputOf } from '../../playing/conversation-input.ts'
import { toast } from '../../shell/toasts.tsx'

export const SaveTest = ({ asked, onClose }: { asked: Asked; onClose: () => void }) => {
  const { workspace } = useSearch({ strict: false })
  const scope = { workspace_id: workspace }
  const [slug, setSlug] = useState(/@preset\/([^@]+)/.exec(String(asked.settings['model']))?.[1] ?? '')
  const [name, setName] = useState('')
  const [expected, setExpected] = useState('')
  const names = useQuery({ ...presetNames({ ...scope, q: slug }), placeholderData: (before) => before })
  const queries = useQueryClient()
  const list = useId()
  const { input, left } = testInputOf(asked)
  return (
    <Confirm
      title="Save as test"
      action="Save as test"
      onConfirm={async () => {
        if (input.messages.length === 0) throw new Error('Write a message first: a test is a conversation to try the preset with.')
        await savePresetTest(slug, { name, ...input, ...(expected === '' ? {} : { expected }) }, scope)
        await queries.invalidateQueries({ queryKey: ['presets', slug, 'tests'] })
        toast(`Saved ${name} with the tests of ${slug}.`)
      }}
      onClose={onClose}
    >
      <p className="soft">The messages and the tools are kept with the preset; model, system prompt and settings are its own.</p>
      {left === 0 ? null : (
        <p className="note warn">
          {left === 1 ? 'One turn is' : `${left} turns are`} left out: a test holds turns as Chat Completions has them.
        </p>
      )}
      <Field label="Preset">
        <input
          value={slug}
          onChange={(event) => setSlug(event.target.value.trim())}
          list={list}
          required
          spellCheck={false}
          autoComplete="off"
        />
      </Field>
      <datalist id={list}>
        {(names.data ?? []).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Field label="Name of the test">
        <input value={name} onChange={(event) => setName(event.target.value)} required maxLength={200} autoComplete="off" />
      </Field>
      <Field label="Expected answer" hint="An evaluation compares with it. It may be left open.">
        <textarea rows={2} value={expected} onChange={(event) => setExpected(event.target.value)} />
      </Field>
    </Confirm>
  )
}
