/** The settings of LiteLLM's proxy, and what to do in the place of each. */
import { type JsonObject, membersOf } from '../../../lib/json/json.ts'
import type { Place } from '../import-plan.ts'

export const reportSettings = (config: JsonObject, root: Place): void => {
  for (const section of ['litellm_settings', 'router_settings', 'general_settings'])
    root.at(section).change(membersOf(config[section]), SETTINGS_SAID)
  for (const name of Object.keys(membersOf(config['environment_variables'])))
    root.at('environment_variables', name).changed(`set the variable ${name} where the service starts`)
}

/** Null means that the setting is reported elsewhere. */
const SETTINGS_SAID: Readonly<Record<string, string | null>> = {
  fallbacks: null,
  default_fallbacks: null,
  model_group_alias: null,
  request_timeout: null,
  timeout: null,
  routing_strategy:
    'providers are balanced by price, away from those that failed recently; latency-based and cost-based become the sort of each preset',
  callbacks: 'traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
  success_callback: 'traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
  failure_callback: 'traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
  max_budget: 'a budget for all is that of the workspace: PUT /api/v1/workspaces/default/budgets/{interval}',
  budget_duration: 'a budget for all is that of the workspace: PUT /api/v1/workspaces/default/budgets/{interval}',
  num_retries: 'a failure moves on to the next key, provider and model by its cause; there is no number to set',
  context_window_fallbacks: 'these models are asked after any failure that another model may survive, not only where a context is too long',
  content_policy_fallbacks: 'a refusal does not move on to another model',
  drop_params: 'what a provider does not take is left out with a warning; `strict` refuses it',
  set_verbose: 'start the service with --log-level debug',
  cache: 'answers are kept where a preset says cache_enabled, or a request asks for it',
  cache_params: 'how long an answer is kept is cache_ttl_seconds of a preset; --redis-url shares them',
  json_logs: 'logs are JSON lines',
  master_key: 'management keys are made with "patchbay keys create --kind management"',
  database_url: 'start the service with --database-url and a database of its own',
  store_model_in_db: 'models are in the file, presets in the database',
  redis_host: 'start the service with --redis-url',
  redis_port: 'start the service with --redis-url',
  redis_password: 'start the service with --redis-url',
  key_management_system: 'keys are variables here: let your secret manager set them where the service starts',
  key_management_settings: 'keys are variables here: let your secret manager set them where the service starts',
  max_request_size_mb: 'the largest body is limits.max_body_bytes of your patchbay.yaml',
  retry_after: 'circuit breakers and cooldowns work by themselves',
  allowed_fails_policy: 'circuit breakers and cooldowns work by themselves',
  allowed_fails: 'circuit breakers and cooldowns work by themselves',
  cooldown_time: 'circuit breakers and cooldowns work by themselves',
  enable_pre_call_checks: 'context and parameters of a model are checked before it is asked, always',
}
