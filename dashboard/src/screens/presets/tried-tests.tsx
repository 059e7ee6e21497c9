/** The answers to the saved tests that were run, each with the answer that its test expects. */
import type { PresetTest } from '../../api/presets.ts'
import { AnswerView } from '../../playing/answer-view.tsx'
import type { Runs } from '../../playing/use-runs.ts'

export const TriedTests = ({ tests, runs }: { tests: readonly PresetTest[]; runs: Runs['runs'] }) => (
  <div className="stack">
    {tests.map(({ id, name, expected }) =>
      runs[id] === undefined ? null : (
        <div key={id}>
          <AnswerView title={name} run={runs[id]} />
          {expected === undefined || expected === null ? null : (
            <p className="faint small">Expected: {typeof expected === 'string' ? expected : JSON.stringify(expected)}</p>
          )}
        </div>
      ),
    )}
  </div>
)
