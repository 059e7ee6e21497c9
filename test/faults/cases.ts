/**
 * The faults that the service must withstand, and the tests that play them: `npm run test:faults` runs these files, and fails if a case has
 * no passing test. `shown` matches the names of tests, including the groups around them.
 */
export interface FaultCase {
  readonly fault: string
  /** Holds for all interfaces, each in its own format, unless it says otherwise. */
  readonly expected: string
  readonly file: string
  readonly shown: RegExp
}

const MATRIX = 'test/acceptance/failover-matrix.test.ts'
const UPSTREAM = 'src/providers/transport/upstream.test.ts'
const CUTS = 'test/conformance/cuts.test.ts'
const PROCESS = 'test/acceptance/process.test.ts'
const HOSTILE = 'test/faults/hostile-http.test.ts'
const ANOMALIES = 'test/faults/anomalies.test.ts'
const KILLS = 'test/faults/kills.test.ts'
const LOOKUPS = 'test/acceptance/stalled-lookups.test.ts'
const BODY = 'src/http/body/read-body.test.ts'
const BUDGETS = 'test/acceptance/budgets.test.ts'
const LIMITS = 'test/acceptance/limits.test.ts'
const LEDGER = 'src/ledger/ledger.db.test.ts'
const LOSS = 'src/storage/sqlite/sqlite-loss.db.test.ts'
const CVES = 'test/acceptance/sibling-cves.test.ts'
const AWAY = 'test/acceptance/storage-away.test.ts'

const one = (file: string, shown: RegExp, fault: string, expected: string): FaultCase => ({ fault, expected, file, shown })
const matrix = (name: string, fault: string, expected: string): FaultCase =>
  one(MATRIX, new RegExp(`^${name} `), fault, `${expected}; with another provider: its answer`)

const UNAVAILABLE = '502 provider_unavailable'
const LATE = '504 timeout'

export const FAULT_CASES: Readonly<Record<string, readonly FaultCase[]>> = {
  'connecting to a provider': [
    matrix('no-such-name', 'its name is not known', UNAVAILABLE),
    one('src/providers/transport/reachability.test.ts', /a name lookup that stalls/, 'a lookup of its name that stalls', LATE),
    one(LOOKUPS, /40 threads of the runtime may wait/, '40 lookups that stall', 'compressed bodies and health go on'),
    matrix('refused', 'the connection is refused', UNAVAILABLE),
    matrix('never-accepts', 'nobody accepts the connection', LATE),
    matrix('tls-untrusted', 'a certificate of nobody', UNAVAILABLE),
    matrix('tls-expired', 'a certificate that has ended', UNAVAILABLE),
    matrix('tls-wrong-name', 'a certificate of somebody else', UNAVAILABLE),
    matrix('tls-stall', 'a handshake that does not end', LATE),
    matrix('not-tls', 'no TLS at all', UNAVAILABLE),
    matrix('reset-at-once', 'a reset before an answer', UNAVAILABLE),
    matrix('closed-at-once', 'an end before an answer', UNAVAILABLE),
    one(UPSTREAM, /reset before a byte.*is tried once more/, 'a reset of an idle connection that was used again', 'one more try, unseen'),
    matrix('silent', 'no answer', LATE),
    matrix('half-a-head', 'half of a head', UNAVAILABLE),
    matrix('not-http', 'no HTTP', UNAVAILABLE),
    matrix('interim-answers-only', 'interim answers without end', LATE),
    matrix('redirect', 'a redirect', `${UNAVAILABLE}, not followed`),
    one(MATRIX, /certificate cannot be trusted is sent nothing/, 'a credential for an untrusted provider', 'nothing is sent'),
  ],
  'answers of a provider': [
    ...['400', '401', '402', '403', '404', '408', '409', '413', '422', '429', '429-with-a-hint', '500', '502', '503', '504', '529'].map(
      (status) => matrix(status, `status ${status}`, 'its type by the table of errors'),
    ),
    matrix('html', 'a page instead of an answer', UNAVAILABLE),
    matrix('empty', 'nothing in a 200', UNAVAILABLE),
    matrix('no-choices', 'a 200 without an answer in it', UNAVAILABLE),
    matrix('false-gzip', 'a body that is not compressed as its header says', UNAVAILABLE),
    matrix('two-lengths', 'two lengths that differ', UNAVAILABLE),
    matrix('another-protocol', 'a change of the protocol', UNAVAILABLE),
    matrix('error-in-200', 'an error in a 200', 'its type'),
    matrix('head-of-2-mib', 'a header of 2 MiB', UNAVAILABLE),
    matrix('head-of-500-fields', '500 headers', UNAVAILABLE),
    matrix('error-of-10-mib', 'an error of 10 MiB', 'its type'),
    matrix('error-deep', 'an error of 100,000 levels', 'its type'),
    one('src/providers/openai-chat/openai-chat.test.ts', /a compressed bomb/, 'a compressed bomb', 'unpacked up to the limit of a body'),
    matrix('cut-whole', 'a whole answer that is cut', UNAVAILABLE),
    one(UPSTREAM, /cut, they are a failure: with chunks and with a length/, 'a body shorter than it says', UNAVAILABLE),
    one(
      'test/acceptance/error-matrix.test.ts',
      /status, headers, body, last event/,
      'each of the 27 types, before and after content',
      'status, headers, body and last event by the contract',
    ),
    one('test/acceptance/error-contract.test.ts', /never a 401 of the client/, 'our credential is refused', 'never a 401 of the client'),
    one(
      'test/acceptance/error-contract.test.ts',
      /a budget spent on reasoning/,
      'all tokens went into reasoning',
      '200, finish reason length',
    ),
    one(
      'test/acceptance/error-contract.test.ts',
      /Length errors turned into success/,
      'the context is full',
      'responses: 200 incomplete; else 400',
    ),
  ],
  'streams of a provider': [
    one(CUTS, /a clean close before the end/, 'an end at every byte', 'an error event and [DONE], never a normal end'),
    one(CUTS, /a broken connection before the end/, 'a reset at every byte', 'an error event and [DONE], never a normal end'),
    one(
      'test/conformance/cut-and-failover.test.ts',
      /behind every byte/,
      'a cut at every byte, with another provider',
      'before content its answer, after it an error',
    ),
    one(
      'test/conformance/cut-clients.test.ts',
      /none of its clients reports a normal finish/,
      'a cut at every byte, read by the SDKs',
      'none reports a normal finish',
    ),
    one('test/conformance/splits.test.ts', /the same bytes whole, byte by byte/, 'any split of the bytes', 'the same bytes'),
    one(
      'src/lib/network/sse.test.ts',
      /chunks never matter/,
      'line ends, comments and fields of every kind, in any split',
      'the same events',
    ),
    one('src/lib/network/sse.test.ts', /A CR at the end|a CR at the end/, 'a CR at the end of a piece', 'the event is told at once'),
    one(
      'src/providers/openai-chat/openai-chat.test.ts',
      /over a limit is the provider’s failure/,
      'a line or an event without an end',
      `${UNAVAILABLE} in the stream`,
    ),
    one(
      'test/acceptance/upstream-failure.test.ts',
      /an event that is not JSON is never passed on/,
      'an event that is not JSON',
      `${UNAVAILABLE} in the stream`,
    ),
    one(
      'test/acceptance/upstream-failure.test.ts',
      /an error chunk of the provider ends the stream/,
      'an error event of the provider',
      'ours, behind what was said',
    ),
    one(
      'test/conformance/pitfalls-streams.test.ts',
      /every pair ends with its terminal event/,
      'usage behind the end, chunks without choices',
      'one terminal event',
    ),
    one('test/conformance/senseless-usage.test.ts', /./, 'no usage, senseless usage', 'estimated, the rest as it was told'),
    one('src/inference/pipeline.test.ts', /ends a stream that never ends/, 'a stream without an end', `${LATE} in the stream`),
    one(
      'src/inference/pipeline.test.ts',
      /says nothing for the time of a first token/,
      'no first token',
      `${LATE}; with another provider: its answer`,
    ),
    one('src/http/response/event-stream.test.ts', /a keep-alive comes after each ten seconds/, 'silence', 'a comment every ten seconds'),
    one('test/fuzz/fuzz.test.ts', /provider streams/, 'streams that are nearly right', 'one end, and no fault of our own'),
  ],
  clients: [
    one(
      'test/acceptance/upstream-cut.test.ts',
      /client gone/,
      'leaves before, amid and behind an answer',
      'the provider is left within 100 ms, what was said is charged',
    ),
    one('src/http/response/event-stream.test.ts', /a reader that is behind/, 'reads slowly', 'the provider waits; nothing is lost'),
    one('test/acceptance/slow-client.test.ts', /reads nothing is given up/, 'reads nothing', 'disconnected, settled'),
    one('test/acceptance/slow-client.test.ts', /408/, 'a body that stops or trickles', '408'),
    one(
      HOSTILE,
      /a client that has ended its side/,
      'ends its side behind the request',
      'its whole answer where it is ready, else taken for gone',
    ),
    one(
      'src/http/server.test.ts',
      /a connection on which nothing moves is closed/,
      'a connection that is silent',
      'closed, except amid its answer',
    ),
    one(HOSTILE, /200 clients that send a header a second/, 'headers that trickle', 'nobody else waits'),
    one(BODY, /size 413/, 'a body over the limit, with and without a length, and without an end', '413, mostly unread'),
    one(BODY, /a body in chunks of one byte each/, 'a body in chunks of one byte each', 'read in few pieces, others get their turn'),
    one(BODY, /400: compressed/, 'a compressed body', '400'),
    one(HOSTILE, /an expectation with a bad key/, 'an expectation with a bad key', '401, without the body'),
    one(HOSTILE, /requests in one write/, '100 requests in one write', 'answered in order, none mixed'),
    one(HOSTILE, /framing that can be read in two ways/, 'framing that can be read in two ways', 'refused, nothing behind it runs'),
    one(HOSTILE, /headers of which there may be one/, 'doubled Host, Authorization, Content-Type', 'refused'),
    one(HOSTILE, /a target means one path/, 'targets with dots, encoded slashes, empty segments', 'refused'),
    one('src/http/app.test.ts', /the Host 400/, 'a Host that is none', '400'),
    one(HOSTILE, /are refused$/, '3,000 headers, a header of 64 KiB', 'refused'),
    one(HOSTILE, /of an operation that has POST/, 'other methods', 'refused'),
    one(HOSTILE, /an upgrade to/, 'upgrades', 'no way around the key'),
  ],
  bodies: [
    one('src/lib/json/json-body.test.ts', /./, 'JSON that is deep, wide, doubled, cut, or no JSON', '400, in linear time'),
    one('test/fuzz/fuzz.test.ts', /request bodies/, 'requests that are nearly right', '200 or a typed refusal'),
    one(BODY, /the text/, 'no UTF-8, byte order marks', '400'),
    one(CVES, /__proto__, constructor and prototype/, 'names of prototypes at every depth', 'names like others'),
    one(CVES, /nothing in a request chooses where it goes/, 'addresses of providers at depth 1 to 10', 'the target stays'),
    one(
      'src/providers/media/load-media.test.ts',
      /a private address is asked for nothing/,
      'pictures at private addresses',
      'no packet goes there',
    ),
    one('src/providers/transport/safe-fetch.test.ts', /redirects each is checked/, 'redirects to private addresses', 'refused'),
    one(
      'src/providers/transport/safe-fetch.test.ts',
      /it connects to the address that was checked/,
      'a name that means another address the second time',
      'the one that was checked',
    ),
  ],
  'keys, budgets, guardrails': [
    one(
      'src/http/access/authenticate.test.ts',
      /and no query, for a token that cannot be a key/,
      'hostile credentials',
      '401, and no query',
    ),
    one('src/http/access/authenticate.test.ts', /a revoked key is 401/, 'a revoked key', '401'),
    one('src/keys/keys.test.ts', /keys that begin alike/, 'keys that begin alike', 'two identities'),
    one(
      'test/acceptance/guardrails.test.ts',
      /an endpoint that fails, or whose host nobody trusts/,
      'a moderation that fails',
      'fails closed',
    ),
    one(BUDGETS, /a spent limit/, 'a limit that is spent', '403 with all figures'),
    one(BUDGETS, /lets in of 200 at once exactly as many as fit/, '200 at once, room for some', 'exactly these; the others 402'),
    one(BUDGETS, /does not let in one request that is larger/, 'one that is larger than what is left', '402, waiting does not help'),
    one('src/ledger/interleavings.db.test.ts', /./, 'any order of admitting, settling, reaping and changing', 'all invariants of money'),
    one(LEDGER, /process that lives stay.*wherever the wall clock jumps/, 'a wall clock that jumps', 'holds stay'),
    one(LEDGER, /charged in the window of the admission/, 'a window that ends amid a request', 'charged where it was let in'),
    one(LEDGER, /of a process that died are charged/, 'a process that died', 'gone within 90 seconds'),
    one(LIMITS, /429/, 'rates and requests at once', '429 with Retry-After'),
  ],
  storage: [
    one(AWAY, /known keys and presets go on/, 'the database is gone', 'what is known goes on; else 503, never 401'),
    one(AWAY, /while the database hangs/, 'the database hangs', 'what is known goes on, and nobody waits long'),
    one(
      'src/storage/contention.db.test.ts',
      /StorageConflict within 3 s/,
      'a lock that is held for long',
      '409 within 3 s, nothing written',
    ),
    one(
      'src/storage/sqlite/sqlite.db.test.ts',
      /a full disk fails the write/,
      'a full disk',
      'that write fails; all goes on once there is room',
    ),
    one(
      LOSS,
      /a log that is cut or damaged anywhere/,
      'a write-ahead log that is damaged anywhere',
      'refused at the start, or no change lost',
    ),
    one(LOSS, /damage in any page/, 'a damaged page', 'a sentence'),
    one(
      LOSS,
      /a file that is deleted or replaced while it is open/,
      'a file that is deleted or replaced',
      'nothing more is written; what is known is saved',
    ),
    one('src/storage/sqlite/sqlite.db.test.ts', /network file systems are known/, 'a file on a network', 'the start is refused'),
    one(LOSS, /a second service does not start/, 'two services on one file', 'the second is refused'),
    one(
      KILLS,
      /amid presets, streams and settlements/,
      'kill -9 amid presets, streams and settlements',
      'nothing acknowledged is lost, nothing charged twice',
    ),
    one(KILLS, /while a database of an earlier version/, 'kill -9 amid a migration', 'the next start finishes it'),
    one('src/storage/durability.db.test.ts', /kill -9 of a writer/, 'kill -9 of a writer', 'no acknowledged version lost'),
    one(
      'src/storage/tables/migrate.db.test.ts',
      /six processes that start at once/,
      'processes that start at once',
      'each migration runs once',
    ),
    one(
      'src/storage/backup/backup.db.test.ts',
      /brought up to date and keeps them/,
      'a database of every earlier level',
      'upgraded with all rows',
    ),
    one('test/acceptance/preset-concurrency.test.ts', /32 clients, 100 creates each/, '32 writers of one preset', 'versions without a gap'),
    one('test/acceptance/idempotency.test.ts', /16 at once make one/, 'one request sent 16 times', 'done once'),
  ],
  'the process': [
    one(
      LIMITS,
      /503 with Retry-After where the process has no room/,
      'more than the process has room for',
      '503 with Retry-After; health and management go on',
    ),
    one(LIMITS, /one key with 120 streams/, 'one key with 120 streams', 'another key is let in at once'),
    one(
      'src/compose/service.test.ts',
      /whose event loop is blocked for seconds refuses new requests/,
      'its event loop is blocked by its own work',
      '503 with Retry-After; health and management go on; it ends two seconds after',
    ),
    one('src/compose/service.test.ts', /whose event loop is blocked for seconds answers/, 'other programs have the processor', 'answered'),
    one('src/providers/transport/own-limits.test.ts', /./, 'no file descriptors left', '503, and no provider is blamed'),
    one(
      'src/storage/sqlite/settle-in-thread.db.test.ts',
      /where no file is left/,
      'no file descriptors left before the first record was written',
      'the record waits, and the process lives',
    ),
    one(PROCESS, /lets a stream end, and takes no new requests/, 'SIGTERM with streams', 'they end; new requests are refused'),
    one(
      PROCESS,
      /a stream that outlasts the drain ends with an error/,
      'a stream that outlasts the drain',
      'an error event, never a normal end',
    ),
    one(PROCESS, /a second SIGTERM/, 'SIGTERM again', 'ends the wait'),
    one(PROCESS, /the log is a full pipe/, 'a log that nobody reads', 'requests and the end go on'),
    one(PROCESS, /a bad file keeps the old one/, 'a bad configuration on SIGHUP', 'the old one stays'),
    one('test/acceptance/workers.test.ts', /one that dies is replaced/, 'a worker that dies', 'it is replaced'),
    ...['storage', 'network', 'clock', 'file'].map((port) =>
      one(
        ANOMALIES,
        new RegExp(`^${port} `),
        `each call of the port “${port}” fails once`,
        'typed errors, no leaked hold, one charge, the next process is well',
      ),
    ),
  ],
}
