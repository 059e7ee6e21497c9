/** A failed request to the service: either its error response, or no response at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status, or 0 if the service could not be reached. */
  readonly status: number
  /** An error type of docs/errors.md; null if the response named none. */
  readonly type: string | null
  readonly requestId: string | null
  readonly metadata: Readonly<Record<string, unknown>>

  constructor(
    message: string,
    about: { status: number; type?: string | null; requestId?: string | null; metadata?: Record<string, unknown> },
  ) {
    super(message)
    this.status = about.status
    this.type = about.type ?? null
    this.requestId = about.requestId ?? null
    this.metadata = about.metadata ?? {}
  }

  /** The faults of a request body. The path is '' if the fault is in the whole body. */
  get issues(): readonly { readonly path: string; readonly message: string }[] {
    const { issues } = this.metadata
    if (!Array.isArray(issues)) return []
    return (issues as readonly { path?: unknown; message?: unknown }[]).flatMap(({ path, message }) =>
      typeof message === 'string' ? [{ path: typeof path === 'string' ? path : '', message }] : [],
    )
  }

  /**
   * The reason of this one failure, in addition to the message, which is the same for every error of its status. Null if the reason is a
   * code for programs, which has no spaces.
   */
  get reason(): string | null {
    const { reason } = this.metadata
    return typeof reason === 'string' && reason.includes(' ') ? reason : null
  }

  get isUnreachable(): boolean {
    return this.status === 0
  }
}

export const lost = (): ApiError => new ApiError('The connection to the service was lost before the end.', { status: 0 })

/** The browser rejects a read with a TypeError unless it was aborted. */
export const asLost = (thrown: unknown): never => {
  if (!(thrown instanceof TypeError)) throw thrown
  throw lost()
}

/** Makes the error from a response that is not 2xx. */
export const readApiError = async (response: Response): Promise<ApiError> => {
  const requestId = response.headers.get('x-request-id')
  const body = (await response.json().catch(() => null)) as { error?: ErrorBody } | null
  const error = body?.error
  return new ApiError(error?.message ?? `The service answered ${response.status}.`, {
    status: response.status,
    type: (error?.metadata?.['error_type'] as string | undefined) ?? error?.type ?? null,
    requestId,
    ...(error?.metadata === undefined ? {} : { metadata: error.metadata }),
  })
}

interface ErrorBody {
  readonly message?: string
  readonly type?: string
  readonly metadata?: Record<string, unknown>
}
