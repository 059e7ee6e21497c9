/** Why a request to the service came to nothing: its own answer, or that there was none. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 where the service could not be reached. */
  readonly status: number
  /** A type of docs/errors.md; null where the answer named none. */
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

  /** The faults of a body; the path is '' where it is the whole body. */
  get issues(): readonly { readonly path: string; readonly message: string }[] {
    const { issues } = this.metadata
    if (!Array.isArray(issues)) return []
    return (issues as readonly { path?: unknown; message?: unknown }[]).flatMap(({ path, message }) =>
      typeof message === 'string' ? [{ path: typeof path === 'string' ? path : '', message }] : [],
    )
  }

  /** The sentence of this very case, where the message is the same for all of its status. A code for programs has no spaces, and is none. */
  get reason(): string | null {
    const { reason } = this.metadata
    return typeof reason === 'string' && reason.includes(' ') ? reason : null
  }

  get isUnreachable(): boolean {
    return this.status === 0
  }
}

/** From an answer that is not 2xx. */
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
