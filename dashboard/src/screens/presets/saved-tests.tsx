/** Inputs that are saved with the preset, to be tried again. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { deletePresetTest, type PresetTest, presetTests, savePresetTest } from '../../api/presets.ts'
import { Button } from '../../parts/button.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { askedFrom, type Message } from '../../playing/conversation-input.ts'
import { toast } from '../../shell/toasts.tsx'

interface SavedTestsProps {
  readonly slug: string
  readonly messages: readonly Message[]
  readonly onLoad: (messages: readonly Message[]) => void
  readonly onRunAll: (tests: readonly PresetTest[]) => void
}

export const SavedTests = ({ slug, messages, onLoad, onRunAll }: SavedTestsProps) => {
  const { workspace } = useSearch({ strict: false })
  const scope = { workspace_id: workspace }
  const tests = useQuery(presetTests(slug, scope))
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [expected, setExpected] = useState('')
  const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: ['presets', slug, 'tests'] })
  const showFault = (thrown: unknown): void => toast(messageOf(thrown))
  const written = messages.flatMap((message) =>
    message.role === 'raw' || message.text === '' ? [] : [{ role: message.role, content: message.text }],
  )
  const save = (event: FormEvent): void => {
    event.preventDefault()
    savePresetTest(slug, { name, messages: written, ...(expected === '' ? {} : { expected }) }, scope)
      .then(() => {
        setName('')
        setExpected('')
      })
      .then(reload)
      .catch(showFault)
  }
  const remove = async ({ id, name: called, messages: asked, tools, expected: answer }: PresetTest): Promise<void> => {
    await deletePresetTest(slug, id, scope)
    await reload()
    const test = { name: called, messages: asked, ...(tools ? { tools } : {}), ...(answer === null ? {} : { expected: answer }) }
    toast(`Deleted the test ${called}.`, () => void savePresetTest(slug, test, scope).then(reload))
  }
  return (
    <Loaded query={tests} rows={1}>
      {(found) => (
        <div className="stack">
          {found.length === 0 ? null : (
            <div className="row between">
              <h3>{found.length === 1 ? '1 saved test' : `${found.length} saved tests`}</h3>
              <Button kind="quiet" onClick={() => onRunAll(found)}>
                Run all
              </Button>
            </div>
          )}
          {found.length === 0 ? null : (
            <ul className="saved-tests" aria-label="Saved tests">
              {found.map((test) => (
                <li key={test.id} className="row">
                  <button
                    type="button"
                    className="link-button"
                    onClick={() => onLoad(askedFrom({ messages: test.messages }, 'chat').messages)}
                  >
                    {test.name}
                  </button>
                  <button
                    type="button"
                    className="icon-button"
                    aria-label={`Delete the test ${test.name}`}
                    onClick={() => void remove(test)}
                  >
                    ×
                  </button>
                </li>
              ))}
            </ul>
          )}
          {written.length === 0 ? (
            found.length > 0 ? null : (
              <p className="faint small no-tests">No test is saved: write a message, and it can be kept under a name.</p>
            )
          ) : (
            <form className="row" onSubmit={save}>
              <input
                className="narrow"
                aria-label="Name of the test"
                placeholder="Name"
                value={name}
                onChange={(event) => setName(event.target.value)}
                required
              />
              <input
                className="narrow"
                aria-label="Expected answer"
                placeholder="Expected answer (optional)"
                value={expected}
                onChange={(event) => setExpected(event.target.value)}
              />
              <Button type="submit">Save as test</Button>
            </form>
          )}
        </div>
      )}
    </Loaded>
  )
}
