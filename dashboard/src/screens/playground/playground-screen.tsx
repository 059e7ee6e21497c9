/** Ask models and presets side by side, on any of the three interfaces. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import type { PresetShape } from '../../api/presets.ts'
import { AnswerView } from '../../playing/answer-view.tsx'
import { type Asked, INFERENCE_PATHS, type Message, requestBody } from '../../playing/conversation-input.ts'
import { DryRunDialog } from '../../playing/dry-run-dialog.tsx'
import { MessagesEditor } from '../../playing/messages-editor.tsx'
import { ModelInput } from '../../playing/model-input.tsx'
import { SettingsEditor } from '../../playing/settings-editor.tsx'
import { useLocks } from '../../playing/use-locks.ts'
import { useRuns } from '../../playing/use-runs.ts'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { curlOf } from '../../parts/copy-curl.tsx'
import { Field } from '../../parts/field.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { SavePreset } from './save-preset.tsx'
import { useReplay } from './use-replay.tsx'

const INTERFACES: readonly { readonly id: PresetShape; readonly title: string }[] = [
  { id: 'chat', title: 'Chat' },
  { id: 'responses', title: 'Responses' },
  { id: 'messages', title: 'Messages' },
]

/** In the address, so that a link opens the same models; never the texts. */
const COLUMNS = ['model', 'model2', 'model3', 'model4'] as const

const EMPTY: readonly Message[] = [{ role: 'user', text: '' }]

export const PlaygroundScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const dialect = INTERFACES.find(({ id }) => id === search['interface'])?.id ?? 'chat'
  const [system, setSystem] = useState('')
  const [messages, setMessages] = useState<readonly Message[]>(EMPTY)
  const [settings, setSettings] = useState<Readonly<Record<string, unknown>>>({})
  const [stream, setStream] = useState(true)
  const [dialog, setDialog] = useState<'dry-run' | 'save' | null>(null)
  const { runs, isRunning, start, stop } = useRuns()
  const setSearch = (more: Readonly<Record<string, string | undefined>>): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...more }), replace: true })
  const replay = useReplay(search['request'], (found) => {
    setSystem(found.system)
    setMessages(found.messages.length === 0 ? EMPTY : found.messages)
    setSettings(found.settings)
    setSearch({ interface: found.interface, model: found.model })
  })
  const columns = COLUMNS.slice(0, Math.max(1, Math.min(COLUMNS.length, Number(search['columns'] ?? 1) || 1)))
  const askedOf = (column: string, conversation = messages): Asked => ({
    interface: dialect,
    system,
    messages: conversation,
    settings: { ...settings, model: search[column] ?? '' },
    stream,
  })
  const run = (conversation = messages): void => start(Object.fromEntries(columns.map((column) => [column, askedOf(column, conversation)])))
  useKeys({ 'mod+Enter': () => run(), Escape: stop })
  const first = askedOf('model')
  const locks = useLocks(columns.map((column) => search[column] ?? ''))
  return (
    <>
      <ScreenHead title="Playground">
        <div className="segmented" role="group" aria-label="Interface">
          {INTERFACES.map(({ id, title }) => (
            <button key={id} type="button" aria-pressed={id === dialect} onClick={() => setSearch({ interface: id })}>
              {title}
            </button>
          ))}
        </div>
        <label className="check">
          <input type="checkbox" checked={stream} onChange={(event) => setStream(event.target.checked)} /> Stream
        </label>
        <Copy
          text={curlOf({ method: 'POST', path: INFERENCE_PATHS[dialect], body: requestBody(first) }, 'INFERENCE_KEY')}
          label="Copy as curl"
        />
        <Button onClick={() => setDialog('dry-run')}>Dry run</Button>
        <Button onClick={() => setDialog('save')}>Save as preset…</Button>
        {isRunning ? (
          <Button onClick={stop} keys="Esc">
            Stop
          </Button>
        ) : (
          <Button kind="primary" onClick={() => run()} keys="⌘↵">
            Run
          </Button>
        )}
      </ScreenHead>
      {replay}
      <div className="playground">
        <Panel title="Request">
          <div className="stack">
            <Field label="System prompt">
              <textarea rows={4} value={system} onChange={(event) => setSystem(event.target.value)} />
            </Field>
            <MessagesEditor messages={messages} onChange={setMessages} />
            <SettingsEditor shape={dialect} settings={settings} onChange={setSettings} locks={locks} />
          </div>
        </Panel>
        <Panel
          title={columns.length === 1 ? 'Answer' : 'Answers'}
          actions={
            columns.length === COLUMNS.length ? undefined : (
              <Button kind="quiet" onClick={() => setSearch({ columns: String(columns.length + 1) })}>
                Add column
              </Button>
            )
          }
        >
          <div className="columns" data-count={columns.length}>
            {columns.map((column, index) => (
              <div className="column" key={column}>
                <div className="column-head">
                  <ModelInput
                    aria-label={columns.length === 1 ? 'Model' : `Model of column ${index + 1}`}
                    value={search[column] ?? ''}
                    onChange={(model) => setSearch({ [column]: model })}
                  />
                  {index === 0 ? null : (
                    <button
                      type="button"
                      className="icon-button"
                      aria-label={`Remove column ${index + 1}`}
                      onClick={() => setSearch(withoutColumn(search, columns.length, index))}
                    >
                      ×
                    </button>
                  )}
                </div>
                <AnswerView
                  title={search[column] ?? 'Choose a model'}
                  run={runs[column]}
                  interface={dialect}
                  onResults={(results) => {
                    const next = [...messages.filter((message) => message.role === 'raw' || message.text !== ''), ...results]
                    setMessages(next)
                    run(next)
                  }}
                />
              </div>
            ))}
          </div>
        </Panel>
      </div>
      {dialog === 'dry-run' ? <DryRunDialog asked={first} onClose={() => setDialog(null)} /> : null}
      {dialog === 'save' ? <SavePreset asked={first} onClose={() => setDialog(null)} /> : null}
    </>
  )
}

/** Those behind it move up. */
const withoutColumn = (
  search: Readonly<Record<string, string | undefined>>,
  count: number,
  index: number,
): Record<string, string | undefined> => {
  const left = COLUMNS.map((column) => search[column]).filter((_, at) => at !== index)
  return { columns: String(count - 1), ...Object.fromEntries(COLUMNS.map((column, at) => [column, left[at]])) }
}
