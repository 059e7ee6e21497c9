/** Edits a preset and tries the draft, beside the version that is live. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { type PresetTest, type PresetVersion, savePresetDraft } from '../../api/presets.ts'
import { useKept } from '../../kept.ts'
import { AnswerView } from '../../playing/answer-view.tsx'
import { AnswersDiff } from '../../playing/answers-diff.tsx'
import { type Asked, askedFrom, type Message, requestBody, written } from '../../playing/conversation-input.ts'
import { DryRunDialog } from '../../playing/dry-run-dialog.tsx'
import { MessagesEditor } from '../../playing/messages-editor.tsx'
import { SettingsEditor } from '../../playing/settings-editor.tsx'
import type { Titled } from '../../playing/run.ts'
import { useRuns } from '../../playing/use-runs.ts'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { toast } from '../../shell/toasts.tsx'
import { isSame } from '../../use-edited.ts'
import { EditorBar } from './editor-bar.tsx'
import { FromRequest } from './from-request.tsx'
import { MoveLive } from './move-live.tsx'
import { MovedUnder } from './moved-under.tsx'
import type { PresetParts } from './preset-parts.ts'
import { SavedTests } from './saved-tests.tsx'
import { TriedTests } from './tried-tests.tsx'
import { useDraft } from './use-draft.ts'

const EMPTY: readonly Message[] = [{ role: 'user', text: '' }]

export const Editor = ({ preset, versions, isWhole }: PresetParts) => {
  const { slug, status, designated_version: live, latest_version: latest } = preset
  const { version: chosen, workspace } = useSearch({ strict: false })
  const navigate = useNavigate()
  const queries = useQueryClient()
  // Another version may go live meanwhile; a draft keeps the version that it was started from.
  const [opened, setOpened] = useState(live.version)
  const found = versions.find(({ version }) => version === Number(chosen ?? opened))
  // While a version is fetched, the one before stays: what is typed into another one would become its draft.
  const [last, setLast] = useState(found ?? live)
  const base = found ?? (isWhole ? live : last)
  if (base.id !== last.id) setLast(base)
  const [shown, setShown] = useState(latest)
  const draft = useDraft(slug, base, shown)
  const [note, setNote] = useKept(`note of ${preset.id}`, () => '')
  const [messages, setMessages] = useKept<readonly Message[]>(`test of ${preset.id}`, () => EMPTY)
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [moving, setMoving] = useState<PresetVersion | null>(null)
  const [isDry, setDry] = useState(false)
  const [tried, setTried] = useState<readonly PresetTest[]>([])
  const { runs, isRunning, start, stop } = useRuns()
  const { shape } = base
  const isActive = status === 'active'
  const { content, isChanged } = draft
  if (chosen === undefined && !isChanged && opened !== live.version && base.version === opened) setOpened(live.version)
  // A save names the newest version that this person has seen, so that a version saved since is not overwritten unseen.
  const { seen = shown } = content
  const title = isChanged ? 'Draft' : `v${base.version}`

  /** Neither conversation is lost: the note offers the one that stood here. */
  const load = (next: readonly Message[]): void =>
    setMessages((now) => {
      if (written(now).length > 0 && !isSame(now, next))
        toast('The conversation of the test was replaced.', () => load(now), `test of ${preset.id}`)
      return next
    })
  const draftAsked = (conversation: readonly Message[]): Asked => ({
    interface: shape,
    system: content.system,
    messages: conversation,
    settings: withoutLocks(content.settings),
    stream: true,
  })
  const liveAsked = (conversation: readonly Message[]): Asked => ({
    interface: shape,
    system: '',
    messages: conversation,
    settings: { model: `@preset/${slug}@${live.version}` },
    stream: true,
  })
  const draftRun = (conversation: readonly Message[]): Titled => ({ title, asked: draftAsked(conversation) })
  const run = (): void => start({ draft: draftRun(messages) })
  const runAll = (tests: readonly PresetTest[]): void => {
    setTried(tests)
    start(
      Object.fromEntries(
        tests.map(({ id, name, messages: kept }) => [
          id,
          { title: name, asked: draftAsked(askedFrom({ messages: kept }, 'chat').messages) },
        ]),
      ),
    )
  }
  const runBoth = (): void => start({ live: { title: `v${live.version} live`, asked: liveAsked(messages) }, draft: draftRun(messages) })

  const showVersion = (version: number): Promise<void> =>
    navigate({ to: '.', search: (before) => ({ ...before, version: String(version) }), replace: true })
  const save = async (): Promise<PresetVersion | null> => {
    if (!isChanged) return base
    setBusy(true)
    setFault(null)
    try {
      const body = requestBody({ ...draftAsked([]), settings: content.settings, stream: false })
      const { version: saved, warnings } = await savePresetDraft(
        { slug, base: seen, query: { workspace_id: workspace } },
        { shape, body, note },
      )
      await queries.invalidateQueries({ queryKey: ['presets', slug] })
      await draft.saved(saved.version, () => showVersion(saved.version))
      // A note that was written meanwhile is about the next version.
      setNote((now) => (now === note ? '' : now))
      setShown(saved.version)
      const gets = isActive ? `callers get v${live.version} as before` : `the preset is ${status}, so no request gets it`
      toast([`Saved ${slug} as v${saved.version}, a draft: ${gets}.`, ...warnings].join(' '), null, `preset ${slug}`)
      return saved
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status === 412) await queries.invalidateQueries({ queryKey: ['presets', slug] })
      else setFault(messageOf(thrown))
      return null
    } finally {
      setBusy(false)
    }
  }
  const rebase = (): void => {
    setShown(latest)
    if (isChanged) draft.change({ ...content, seen: latest })
  }
  const putLive = (): void =>
    void save().then((version) => {
      if (version !== null) setMoving(version)
    })
  const evaluate = (): void =>
    void save().then((version) => {
      if (version === null) return
      void navigate({ to: '.', search: (before) => ({ ...before, tab: 'evaluations', start: String(version.version) }) })
    })
  useKeys({ 'mod+Enter': run, 'mod+s': () => void save(), Escape: stop })

  return (
    <>
      <EditorBar
        versions={versions}
        base={base.version}
        state={stateOf(base, preset, isChanged)}
        savesAs={isChanged ? latest + 1 : null}
        goesLive={isChanged || base.version !== live.version}
        isRunning={isRunning}
        isBusy={busy}
        onShow={(version) => void showVersion(version)}
        onRun={run}
        onStop={stop}
        onRunBoth={runBoth}
        onDryRun={() => setDry(true)}
        onEvaluate={evaluate}
        onDiscard={draft.discard}
        onSave={() => void save()}
        onPutLive={putLive}
      />
      {chosen === undefined || found !== undefined || !isWhole ? null : (
        <p className="note warn" role="status">
          {slug} has no version {chosen}: this is v{base.version}.
        </p>
      )}
      {latest > seen ? <MovedUnder slug={slug} base={base} draft={content} newest={versions[0] ?? base} onRebase={rebase} /> : null}
      {fault === null ? null : (
        <p className="note bad" role="alert">
          {fault}
        </p>
      )}
      <div className="playground editor">
        <div>
          <div className="panel">
            <Field label="System prompt">
              <textarea
                className="prompt"
                rows={10}
                value={content.system}
                onChange={(event) => draft.change({ ...content, system: event.target.value })}
              />
            </Field>
          </div>
          <Panel title="Settings">
            <SettingsEditor
              shape={shape}
              settings={content.settings}
              onChange={(settings) => draft.change({ ...content, settings })}
              withModel
            />
          </Panel>
          {isChanged ? (
            <div className="panel">
              <Field label="Note" hint="What is different, for those who read the history.">
                <input value={note} onChange={(event) => setNote(event.target.value)} maxLength={500} />
              </Field>
            </div>
          ) : null}
        </div>
        <div>
          <Panel title="Test">
            <div className="stack">
              <MessagesEditor messages={messages} interface={shape} onChange={setMessages} />
              <div>
                <FromRequest slug={slug} onLoad={load} />
              </div>
              <SavedTests slug={slug} messages={messages} onLoad={load} onRunAll={runAll} />
            </div>
          </Panel>
          <Panel title="Answer">
            <div className="columns">
              {runs['live'] === undefined ? null : <AnswerView title={runs['live'].title} run={runs['live']} />}
              <AnswerView
                title={title}
                run={runs['draft']}
                onResults={(results) => {
                  const next = [...written(messages), ...results]
                  setMessages(next)
                  start({ draft: draftRun(next) })
                }}
                onGoOn={(turn) => setMessages([...written(messages), turn, ...EMPTY])}
              />
            </div>
            <AnswersDiff answers={[runs['live'], runs['draft']]} />
            <TriedTests tests={tried} runs={runs} />
          </Panel>
        </div>
      </div>
      {isDry ? <DryRunDialog asked={draftAsked(messages)} onClose={() => setDry(false)} /> : null}
      {moving === null ? null : (
        <MoveLive
          preset={preset}
          to={moving}
          onMoved={() => queries.invalidateQueries({ queryKey: ['presets'] })}
          onClose={() => setMoving(null)}
        />
      )}
    </>
  )
}

const stateOf = (base: PresetVersion, { status, designated_version: live }: PresetParts['preset'], isChanged: boolean): string => {
  if (isChanged) return `Draft from v${base.version} ●`
  if (base.version !== live.version) return 'not live'
  return status === 'active' ? 'live' : `not live: ${status}`
}

/** Locks apply to requests that name the preset; a draft is sent as an ordinary request. */
const withoutLocks = ({
  locked: _locked,
  on_locked: _onLocked,
  ...settings
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => settings
