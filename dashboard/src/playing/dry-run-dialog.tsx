/** The effect that a request would have, without calling a provider. */
import { useQuery } from '@tanstack/react-query'

import { count } from '../format.ts'
import { Money } from '../parts/amount.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { JsonText } from '../parts/json-text.tsx'
import { warningKey, WarningText } from '../parts/warning-text.tsx'
import { Loaded } from '../parts/loaded.tsx'
import type { Asked } from './conversation-input.ts'
import { dryRun } from './dry-run.ts'

export const DryRunDialog = ({ asked, onClose }: { asked: Asked; onClose: () => void }) => {
  const result = useQuery({ queryKey: ['dry-run', asked], queryFn: () => dryRun(asked), gcTime: 0, retry: false })
  return (
    <Dialog title="Dry run: what this request would do" wide onClose={onClose}>
      <Loaded query={result} rows={6}>
        {({ plan, request, upstream_request: upstream, cost_estimate: cost, warnings }) => (
          <div className="stack">
            <p>
              {plan.attempts.length === 0
                ? 'Nobody could be asked.'
                : `Asked in this order: ${plan.attempts.map(({ provider, model }) => `${provider} (${model})`).join(', ')}.`}{' '}
              {plan.removed.length === 0
                ? ''
                : `Not asked: ${plan.removed.map(({ provider, reason }) => `${provider} (${reason})`).join(', ')}.`}
            </p>
            <p>
              About {count(cost.input_tokens)} tokens in; it costs{' '}
              {cost.max_usd === null ? (
                'an amount that has no bound'
              ) : (
                <>
                  between <Money of={cost.min_usd} /> and <Money of={cost.max_usd} />
                </>
              )}
              .
            </p>
            {warnings.map((warning) => (
              <p className="note warn" key={warningKey(warning)}>
                <WarningText of={warning} />
              </p>
            ))}
            <details open>
              <summary>Merged request</summary>
              <JsonText value={request} />
            </details>
            <details>
              <summary>Sent to the provider</summary>
              <JsonText value={upstream} />
            </details>
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}
