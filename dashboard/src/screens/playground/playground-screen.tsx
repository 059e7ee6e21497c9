/** The playground: sends a request to models and presets side by side, on any of the three interfaces. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import type { PresetShape } from '../../api/presets.ts'
import { currentSession } from '../../api/session.ts'
import { useKept } from '../../kept.ts'
import { type Asked, INTERFACE_NAMES, type Message, written } from '../../playing/conversation-input.ts'
import { DryRunDialog } from '../../playing/dry-run-dialog.tsx'
import { MessagesEditor } from '../../playing/messages-editor.tsx'
import { SettingsEditor } from '../../playing/settings-editor.tsx'
import { useLocks } from '../../playing/use-locks.ts'
import { useRuns } from '../../playing/use-runs.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { toast } from '../../shell/toasts.tsx'
import { AnswerColumns } from './answer-columns.tsx'
import { ChargedTo } from './charged-to.tsx'
import { CodeMenu } from './code-menu.tsx'
import { leftOut } from './link-settings.ts'
import { SavePreset } from './save-preset.tsx'
import { SaveTest } from './save-test.tsx'
import { ShareMenu } from './share-menu.tsx'
import { useColumns } from './use-columns.ts'
import { type Replayed, useReplay } from './use-replay.tsx'

const INTERFACES = Object.keys(INTERFACE_NAMES) as readonly PresetShape[]

const EMPTY: readonly Message[] = [{ role: 'user', text: '' }]

export const PlaygroundScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const isMember = useQuery(currentSession).data?.role === 'member'
  const dialect = INTERFACES.find((id) => id === search['interface']) ?? 'chat'
  const [system, setSystem] = useKept('playground system', () => '')
  const [messages, setMessages] = useKept<readonly Message[]>('playground messages', () => EMPTY)
  const [stream, setStream] = useState(true)
  const [dialog, setDialog] = useState<'dry-run' | 'save' | 'test' | null>(null)
  const [chosenId, setChosenId] = useState<string | null>(null)
  const { runs, isRunning, start, stop, remove: removeRun } = useRuns()
  const { shared, columns, canAdd, add, remove, setShared, setModel, setOwn } = useColumns()
  const [added, setAdded] = useState<number | null>(null)
  /** Neither text is lost: the note offers the one that stood here. */
  const show = (one: Replayed): void => {
    const before = { ...one, interface: dialect, model: columns[0].model, settings: shared }
    setSystem((now) => {
      before.system = now
      return one.system
    })
    setMessages((now) => {
      before.messages = now
      return one.messages.length === 0 ? EMPTY : one.messages
    })
    setShared(one.settings, { interface: one.interface, model: one.model, request: undefined })
    const hadText = before.system !== '' || written(before.messages).length > 0
    if (hadText) toast('What you wrote here was replaced.', () => show(before), 'text of the playground')
  }
  const replay = useReplay(search['request'], show)
  const askedOf = (column: (typeof columns)[number], conversation = messages): Asked => ({
    interface: dialect,
    system,
    messages: conversation,
    settings: { ...shared, ...column.settings, model: column.model },
    stream,
  })
  const run = (conversation = messages): void =>
    start(Object.fromEntries(columns.map((column) => [column.id, { title: column.model, asked: askedOf(column, conversation) }])))
  useKeys({ 'mod+Enter': () => run(), Escape: stop })
  const chosen = columns.find(({ id }) => id === chosenId) ?? columns[0]
  const asked = askedOf(chosen)
  const locks = useLocks(columns.map(({ model }) => model))
  const left = new Set(columns.flatMap((column) => leftOut(askedOf(column).settings)).filter((name) => name !== 'model'))
  const unlinked = [...(system === '' ? [] : ['the system prompt']), ...left]
  return (
    <>
      <ScreenHead title="Playground">
        {columns.length === 1 ? null : (
          <select
            className="column-choice"
            aria-label="Column that Share, Code, Dry run and Save take"
            value={chosen.id}
            onChange={(event) => setChosenId(event.target.value)}
          >
            {columns.map(({ id, model }, index) => (
              <option key={id} value={id}>
                {`Column ${index + 1}${model === '' ? '' : `: ${model}`}`}
              </option>
            ))}
          </select>
        )}
        <ShareMenu generationId={runs[chosen.id]?.generationId ?? null} unlinked={unlinked} />
        <CodeMenu asked={asked} />
        <Button onClick={() => setDialog('dry-run')}>Dry run</Button>
        {isMember ? null : (
          <>
            <Button onClick={() => setDialog('save')}>Save as preset…</Button>
            <Button onClick={() => setDialog('test')}>Save as test</Button>
          </>
        )}
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
      <div className="row between">
        <div className="row">
          <div className="segmented" role="group" aria-label="Interface">
            {INTERFACES.map((id) => (
              <button
                key={id}
                type="button"
                aria-pressed={id === dialect}
                onClick={() => void navigate({ to: '.', search: (before) => ({ ...before, interface: id }), replace: true })}
              >
                {INTERFACE_NAMES[id]}
              </button>
            ))}
          </div>
          <label className="check">
            <input type="checkbox" checked={stream} onChange={(event) => setStream(event.target.checked)} /> Stream
          </label>
        </div>
        <ChargedTo isRunning={isRunning} />
      </div>
      {replay}
      <div className="playground">
        <Panel title="Request">
          <div className="stack">
            <Field label="System prompt">
              <textarea rows={4} value={system} onChange={(event) => setSystem(event.target.value)} />
            </Field>
            <MessagesEditor messages={messages} interface={dialect} onChange={setMessages} />
            <SettingsEditor shape={dialect} settings={shared} onChange={setShared} locks={locks} />
          </div>
        </Panel>
        <Panel
          title={columns.length === 1 ? 'Answer' : 'Answers'}
          actions={
            canAdd ? (
              <Button
                kind="quiet"
                onClick={() => {
                  setAdded(columns.length)
                  add()
                }}
              >
                Add column
              </Button>
            ) : undefined
          }
        >
          <AnswerColumns
            columns={columns}
            added={added}
            runs={runs}
            interface={dialect}
            onModel={setModel}
            onSettings={setOwn}
            onRemove={(index) => {
              const ids = columns.map(({ id }) => id)
              removeRun(ids, index)
              remove(index)
            }}
            onResults={(results) => {
              const next = [...written(messages), ...results]
              setMessages(next)
              run(next)
            }}
            onGoOn={(turn) => setMessages([...written(messages), turn, ...EMPTY])}
          />
        </Panel>
      </div>
      {dialog === 'dry-run' ? <DryRunDialog asked={asked} onClose={() => setDialog(null)} /> : null}
      {dialog === 'save' ? <SavePreset asked={asked} onClose={() => setDialog(null)} /> : null}
      {dialog === 'test' ? <SaveTest asked={asked} onClose={() => setDialog(null)} /> : null}
    </>
  )
}
