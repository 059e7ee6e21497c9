/**
 * The scripts run atomically and use the server's clock, so the clocks of nodes need not agree. Rates are kept by the generic cell rate
 * algorithm (limits/gcra.ts), as the instant, in microseconds, at which the whole rate is available again; running requests as the count
 * that each node last reported, and how long that is valid. KEYS: running requests, tokens, requests.
 */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local minute = 60000000
local node, running, concurrency, lease_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function full_at(key)
  return math.max(tonumber(redis.call('GET', key) or 0), now)
end

local function keep(key, at)
  if at > now then redis.call('SET', key, string.format('%.3f', at), 'PX', math.ceil((at - now) / 1000)) else redis.call('DEL', key) end
end

local function set_running()
  if concurrency == 0 then return end
  if running > 0 then
    redis.call('HSET', KEYS[1], node, string.format('%d %.0f', running, now + lease_ms * 1000))
    redis.call('PEXPIRE', KEYS[1], lease_ms)
  else
    redis.call('HDEL', KEYS[1], node)
  end
end
`

/** ARGV: node, running, concurrency, lease, tokens per minute, requests per minute. Returns what `readVerdict` reads. */
export const ENTER = `${COMMON}
if concurrency > 0 then
  local others = 0
  local counts = redis.call('HGETALL', KEYS[1])
  for i = 1, #counts, 2 do
    local count, lease_until = string.match(counts[i + 1], '^(%d+) (%d+)$')
    if tonumber(lease_until) < now then redis.call('HDEL', KEYS[1], counts[i])
    elseif counts[i] ~= node then others = others + count end
  end
  if others + running > concurrency then return { 1, 0, 0, 0 } end
end
local after = {}
for kind = 1, 2 do
  local limit = tonumber(ARGV[4 + kind])
  if limit > 0 then
    local at = full_at(KEYS[1 + kind])
    after[kind] = at + minute / limit
    local over = after[kind] - now - minute
    if over > 1 then
      local remaining = math.max(0, math.floor((minute - (at - now)) * limit / minute + 0.000001))
      return { kind + 1, remaining, math.ceil(over / 1000), math.ceil((at - now) / 1000) }
    end
  end
end
set_running()
for kind, at in pairs(after) do keep(KEYS[1 + kind], at) end
return { 0, 0, 0, 0 }
`

/** KEYS: the nodes' reports of their places. ARGV: node, lease, report. Returns the reports of the other nodes. */
export const EXCHANGE_PLACES = `
local time = redis.call('TIME')
local now_ms = math.floor(time[1] * 1000 + time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now_ms + ARGV[2], ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local others = {}
local said = redis.call('HGETALL', KEYS[1])
for i = 1, #said, 2 do
  local lease_until, words = string.match(said[i + 1], '^(%d+) (.*)$')
  if tonumber(lease_until) < now_ms then redis.call('HDEL', KEYS[1], said[i])
  elseif said[i] ~= ARGV[1] then others[#others + 1] = words end
end
return others
`

/** ARGV: node, running, concurrency, lease, then limit and usage of tokens, and of requests. */
export const CORRECT = `${COMMON}
set_running()
for kind = 1, 2 do
  local limit, used = tonumber(ARGV[3 + 2 * kind]), tonumber(ARGV[4 + 2 * kind])
  if limit > 0 and used ~= 0 then keep(KEYS[1 + kind], full_at(KEYS[1 + kind]) + used * minute / limit) end
end
return 0
`
