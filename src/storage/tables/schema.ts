/**
 * The contents of the database: the migrations that create its tables, the tables as Kysely sees them, and the tables whose rows are
 * deleted with their workspace. Ids, timestamps and days are made by the callers and inserted unchanged
 * (docs/contract/operating.md#stored-values): a timestamp is ISO 8601 in UTC with milliseconds (lib/clock.ts), so it sorts as text.
 */
import type { Migration } from 'kysely'

import type { Engine } from '../engine.ts'
import type { EvaluationTables } from './evaluation-tables.ts'
import type { FileTables } from './file-tables.ts'
import type { GenerationTables } from './generation-tables.ts'
import type { GuardrailTables } from './guardrail-tables.ts'
import type { KeyTables } from './key-tables.ts'
import type { LedgerTables } from './ledger-tables.ts'
import type { ManagementTables } from './management-tables.ts'
import { firstTables } from '../migrations/0001-first-tables.ts'
import { serviceFacts } from '../migrations/0002-service-facts.ts'
import { strictKeys } from '../migrations/0003-strict-keys.ts'
import { ledger } from '../migrations/0004-ledger.ts'
import { guardrails } from '../migrations/0005-guardrails.ts'
import { management } from '../migrations/0006-management.ts'
import { keySettings } from '../migrations/0007-key-settings.ts'
import { catalogueImports } from '../migrations/0008-catalogue-imports.ts'
import { presetMoves } from '../migrations/0009-preset-moves.ts'
import { requestLog } from '../migrations/0010-request-log.ts'
import { sessions } from '../migrations/0011-sessions.ts'
import { presetTests } from '../migrations/0012-preset-tests.ts'
import { observabilityDestinations } from '../migrations/0013-observability-destinations.ts'
import { usageHours } from '../migrations/0014-usage-hours.ts'
import { nodes } from '../migrations/0015-nodes.ts'
import { presetRollouts } from '../migrations/0016-preset-rollouts.ts'
import { generationContents } from '../migrations/0017-generation-contents.ts'
import { people } from '../migrations/0018-people.ts'
import { evaluations } from '../migrations/0019-evaluations.ts'
import { endpointHealth } from '../migrations/0020-endpoint-health.ts'
import { requiredEvaluations } from '../migrations/0021-required-evaluations.ts'
import { tracesWaiting } from '../migrations/0022-traces-waiting.ts'
import { traceSenders } from '../migrations/0023-trace-senders.ts'
import { placesOfNodes } from '../migrations/0024-places-of-nodes.ts'
import { files } from '../migrations/0025-files.ts'
import { quickLists } from '../migrations/0026-quick-lists.ts'
import { quickFinds } from '../migrations/0027-quick-finds.ts'
import { guardrailHours } from '../migrations/0028-guardrail-hours.ts'
import { guardrailFinds } from '../migrations/0029-guardrail-finds.ts'
import { sumsOfWorkspaces } from '../migrations/0030-sums-of-workspaces.ts'
import { endedWindows } from '../migrations/0031-ended-windows.ts'
import { usageDays } from '../migrations/0032-usage-days.ts'
import { cachedTokensOfDays } from '../migrations/0033-cached-tokens-of-days.ts'
import { runsOfSummedDays } from '../migrations/0034-runs-of-summed-days.ts'
import { warningsOfAnswers } from '../migrations/0035-warnings-of-answers.ts'
import type { PresetTables } from './preset-tables.ts'
import type { ServiceTables } from './service-tables.ts'
import type { SignInTables } from './sign-in-tables.ts'
import type { TraceTables } from './trace-tables.ts'
import type { UsageTables } from './usage-tables.ts'
import type { WorkspaceSumTables } from './workspace-sum-tables.ts'

export interface Schema
  extends
    EvaluationTables,
    FileTables,
    GenerationTables,
    GuardrailTables,
    KeyTables,
    LedgerTables,
    ManagementTables,
    PresetTables,
    ServiceTables,
    SignInTables,
    TraceTables,
    UsageTables,
    WorkspaceSumTables {}

/** Append-only: a released migration never changes, not even its name. Migrations run in the order of their names. */
export const migrationsFor = (engine: Engine): Record<string, Migration> => ({
  '0001-first-tables': firstTables(engine),
  '0002-service-facts': serviceFacts(engine),
  '0003-strict-keys': strictKeys,
  '0004-ledger': ledger(engine),
  '0005-guardrails': guardrails(engine),
  '0006-management': management(engine),
  '0007-key-settings': keySettings(engine),
  '0008-catalogue-imports': catalogueImports(engine),
  '0009-preset-moves': presetMoves(engine),
  '0010-request-log': requestLog(engine),
  '0011-sessions': sessions(engine),
  '0012-preset-tests': presetTests(engine),
  '0013-observability-destinations': observabilityDestinations(engine),
  '0014-usage-hours': usageHours(engine),
  '0015-nodes': nodes(engine),
  '0016-preset-rollouts': presetRollouts(engine),
  '0017-generation-contents': generationContents(engine),
  '0018-people': people(engine),
  '0019-evaluations': evaluations(engine),
  '0020-endpoint-health': endpointHealth(engine),
  '0021-required-evaluations': requiredEvaluations(engine),
  '0022-traces-waiting': tracesWaiting(engine),
  '0023-trace-senders': traceSenders(engine),
  '0024-places-of-nodes': placesOfNodes(engine),
  '0025-files': files(engine),
  '0026-quick-lists': quickLists,
  '0027-quick-finds': quickFinds(engine),
  '0028-guardrail-hours': guardrailHours(engine),
  '0029-guardrail-finds': guardrailFinds,
  '0030-sums-of-workspaces': sumsOfWorkspaces(engine),
  '0031-ended-windows': endedWindows,
  '0032-usage-days': usageDays(engine),
  '0033-cached-tokens-of-days': cachedTokensOfDays(engine),
  '0034-runs-of-summed-days': runsOfSummedDays(engine),
  '0035-warnings-of-answers': warningsOfAnswers(engine),
})

/** The kinds of objects that entries of the audit log are about. */
export const AUDIT_OBJECTS = [
  'api_key',
  'audit_log',
  'catalogue',
  'credit',
  'file',
  'generation_content',
  'generations',
  'guardrail',
  'member',
  'observability_destination',
  'preset',
  'provider_key',
  'root_secret',
  'session',
  'workspace',
  'workspace_budget',
] as const

export type AuditObject = (typeof AUDIT_OBJECTS)[number]

/** Tables whose rows are deleted with their workspace, by their `workspace_id`. */
export const DELETED_WITH_WORKSPACE: readonly (keyof Schema)[] = [
  'workspace_members',
  'workspace_budgets',
  'byok_keys',
  'files',
  'guardrail_assignments',
  'guardrails',
  'oauth_codes',
  'login_links',
]
