/** Recomputes the hourly sums after a test has moved records in time. */
import type { Database } from 'bun:sqlite'

export const countHours = (database: Database): void => {
  database.run('delete from usage_hours')
  database.run(`insert into usage_hours (hour, workspace_id, key_hash, user_id, model, provider, preset_id, preset_version, interface, error_type,
      requests, tokens_prompt, tokens_completion, cost_nanos, ttft_10, total_14)
    select substr(created_at, 1, 13), workspace_id, key_hash, coalesce(user_id, ''), model, coalesce(provider, ''), coalesce(preset_id, ''), coalesce(preset_version, 0),
      coalesce(interface, ''), coalesce(error_type, ''), count(*), sum(tokens_prompt), sum(tokens_completion), sum(cost_nanos), count(first_token_ms), count(*)
    from generations group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`)
}
