/** The outcomes of a text, each as a mark and words. */
import type { GuardrailTest } from '../../api/guardrails.ts'
import type { Mark } from '../../parts/status.tsx'

export const OUTCOMES: Readonly<Record<GuardrailTest['outcome'], readonly [Mark, string]>> = {
  passed: ['ok', 'Passes as it is'],
  flagged: ['left', 'Passes, and is reported'],
  redacted: ['left', 'Passes, redacted'],
  blocked: ['error', 'Blocked: 403, nobody is asked'],
}
