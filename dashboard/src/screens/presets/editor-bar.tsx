/** The bar above the editor: the version that a draft begins from, and what can be done with the draft. */
import { Button } from '../../parts/button.tsx'
import type { PresetParts } from './preset-parts.ts'
import { VersionSelect } from './version-select.tsx'

interface EditorBarParts extends Pick<PresetParts, 'versions'> {
  readonly base: number
  readonly state: string
  /** The number of the version that a save makes; null if there is nothing to save. */
  readonly savesAs: number | null
  readonly goesLive: boolean
  readonly isRunning: boolean
  readonly isBusy: boolean
  readonly onShow: (version: number) => void
  readonly onRun: () => void
  readonly onStop: () => void
  readonly onRunBoth: () => void
  readonly onDryRun: () => void
  readonly onEvaluate: () => void
  readonly onDiscard: () => void
  readonly onSave: () => void
  readonly onPutLive: () => void
}

export const EditorBar = (parts: EditorBarParts) => (
  <div className="editor-bar">
    <VersionSelect
      label="Version to begin with"
      versions={parts.versions}
      value={parts.base}
      onChange={(next) => parts.onShow(Number(next))}
    />
    <span className="soft">{parts.state}</span>
    <span className="editor-actions">
      {parts.isRunning ? (
        <Button onClick={parts.onStop} keys="Esc">
          Stop
        </Button>
      ) : (
        <Button onClick={parts.onRun} keys="⌘↵">
          Run
        </Button>
      )}
      <Button onClick={parts.onRunBoth}>Run both</Button>
      <Button onClick={parts.onDryRun}>Dry run</Button>
      <Button onClick={parts.onEvaluate} busy={parts.isBusy}>
        Evaluate…
      </Button>
      {parts.savesAs === null ? null : (
        <>
          <Button kind="quiet" onClick={parts.onDiscard}>
            Discard
          </Button>
          <Button onClick={parts.onSave} busy={parts.isBusy} keys="⌘S">
            Save draft as v{parts.savesAs}
          </Button>
        </>
      )}
      {parts.goesLive ? (
        <Button kind="primary" onClick={parts.onPutLive} busy={parts.isBusy}>
          Put live…
        </Button>
      ) : null}
    </span>
  </div>
)
