/** One column for each model, with its settings and its answer. */
import { AnswerView } from '../../playing/answer-view.tsx'
import { AnswersDiff } from '../../playing/answers-diff.tsx'
import type { Message } from '../../playing/conversation-input.ts'
import { ModelInput } from '../../playing/model-input.tsx'
import type { Run } from '../../playing/run.ts'
import type { PresetShape } from '../../api/presets.ts'
import { ColumnParams } from './column-params.tsx'

export interface Column {
  readonly id: string
  readonly model: string
  /** Settings that override those of the request. */
  readonly settings: Readonly<Record<string, unknown>>
}

interface AnswerColumnsProps {
  readonly columns: readonly Column[]
  /** The place of the column that was added last: its model takes the focus, since nothing else can come next. */
  readonly added: number | null
  readonly runs: Readonly<Record<string, Run>>
  readonly interface: PresetShape
  readonly onModel: (column: Column, model: string) => void
  readonly onSettings: (column: Column, settings: Column['settings']) => void
  readonly onRemove: (index: number) => void
  readonly onResults: (results: readonly Message[]) => void
  readonly onGoOn: (turn: Message) => void
}

export const AnswerColumns = ({
  columns,
  added,
  runs,
  interface: dialect,
  onModel,
  onSettings,
  onRemove,
  onResults,
  onGoOn,
}: AnswerColumnsProps) => (
  <>
    <div className="columns" data-count={columns.length}>
      {columns.map((column, index) => (
        <div className="column" key={column.id}>
          <div className="column-head">
            <ModelInput
              aria-label={columns.length === 1 ? 'Model' : `Model of column ${index + 1}`}
              value={column.model}
              onChange={(model) => onModel(column, model)}
              autoFocus={index === added}
            />
            {columns.length === 1 ? null : (
              <ColumnParams
                title={`column ${index + 1}`}
                shape={dialect}
                settings={column.settings}
                onChange={(settings) => onSettings(column, settings)}
              />
            )}
            {index === 0 ? null : (
              <button type="button" className="icon-button" aria-label={`Remove column ${index + 1}`} onClick={() => onRemove(index)}>
                ×
              </button>
            )}
          </div>
          <AnswerView
            title={column.model === '' ? 'Choose a model' : column.model}
            run={runs[column.id]}
            onResults={onResults}
            onGoOn={onGoOn}
          />
        </div>
      ))}
    </div>
    <AnswersDiff answers={columns.map(({ id }) => runs[id])} />
  </>
)
