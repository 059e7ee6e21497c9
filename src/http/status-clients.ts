/**
 * The clients that need a failure's real status: from a 200 with an error inside they make an empty answer, an error without its reason,
 * or an endless retry (docs/contract/errors.md#status-by-client). Each is recognised by a header that it sends by itself.
 */
interface StatusClient {
  readonly client: string
  /** In lower case. */
  readonly header: string
  /** The beginning of a word in the header's value, in lower case; absent if the header alone is enough. */
  readonly word?: string
  readonly sends: string
}

export const STATUS_CLIENTS: readonly StatusClient[] = [
  {
    client: 'OpenAI and Anthropic SDKs in any language, and what is built on them: LangChain, pydantic-ai, OpenAI Agents, LiteLLM, aider',
    header: 'x-stainless-lang',
    sends: 'python',
  },
  { client: 'Claude Code', header: 'user-agent', word: 'claude-cli/', sends: 'claude-cli/2.1.332 (external, sdk-cli)' },
  { client: 'Codex', header: 'originator', word: 'codex', sends: 'codex_exec' },
  {
    client: 'Codex',
    header: 'user-agent',
    word: 'codex',
    sends: 'codex_exec/0.171.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.171.0)',
  },
  {
    client: 'opencode',
    header: 'user-agent',
    word: 'opencode/',
    sends: 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
  },
  { client: 'BAML', header: 'baml-original-url', sends: 'http://127.0.0.1:8080/api/v1' },
  { client: 'promptfoo', header: 'x-promptfoo-version', sends: '0.123.1' },
  { client: "Portkey's SDKs", header: 'x-portkey-package-version', sends: 'portkey-3.1.0' },
  { client: 'Mistral Vibe', header: 'x-affinity', sends: '8a9d692d-95e8-1db5-98d9-29c54f65667c' },
  {
    client: 'Vercel AI SDK',
    header: 'user-agent',
    word: 'ai/',
    sends: 'ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/v20.20.2',
  },
  {
    client: 'Vercel AI SDK, its providers used alone',
    header: 'user-agent',
    word: 'ai-sdk',
    sends: 'ai-sdk/provider-utils/4.0.66 runtime/node.js/v20.20.2',
  },
  { client: 'LiteLLM', header: 'user-agent', word: 'litellm/', sends: 'litellm/1.110.2' },
  { client: 'DSPy', header: 'user-agent', word: 'lm15/', sends: 'lm15/stdlib' },
  { client: 'DSPy through LiteLLM', header: 'user-agent', word: 'dspy/', sends: 'DSPy/3.4.1' },
  { client: 'LangChain', header: 'user-agent', word: 'langchain', sends: 'langchain-anthropic/1.7.10' },
  { client: "LangChain's ChatOpenRouter for JavaScript", header: 'x-title', word: 'langchain', sends: 'LangChain' },
  { client: 'Hugging Face', header: 'user-agent', word: 'hf_hub/', sends: 'unknown/None; hf_hub/2.4.0; python/3.11.7' },
  { client: 'Hugging Face', header: 'user-agent', word: '@huggingface/inference/', sends: '@huggingface/inference/4.13.30' },
  { client: "Mistral's SDKs", header: 'user-agent', word: 'mistral-client-', sends: 'mistral-client-python/3.7.0' },
  {
    client: "Azure's SDKs for AI Inference",
    header: 'user-agent',
    word: 'azsdk-python-ai-inference',
    sends: 'azsdk-python-ai-inference/1.0.0b9 Python/3.11.7 (Linux-6.18.44-x86_64-with-glibc2.36)',
  },
  {
    client: "Azure's SDKs for AI Inference",
    header: 'user-agent',
    word: 'azsdk-js-ai-inference',
    sends: 'azsdk-js-ai-inference-rest/1.0.0-beta.6 core-rest-pipeline/1.24.0 Node/20.20.2 (Linux 6.18.44; x64)',
  },
  { client: 'Spring AI', header: 'user-agent', word: 'spring-ai', sends: 'spring-ai' },
  { client: 'pydantic-ai', header: 'user-agent', word: 'pydantic-ai/', sends: 'pydantic-ai/2.68.0' },
  { client: 'OpenAI Agents', header: 'user-agent', word: 'agents/', sends: 'Agents/Python 0.24.0' },
  { client: 'OpenAI SDKs', header: 'user-agent', word: 'openai/', sends: 'OpenAI/Go 3.99.0' },
  { client: 'OpenAI SDKs', header: 'user-agent', word: 'asyncopenai/', sends: 'AsyncOpenAI/Python 3.57.0' },
  { client: 'Anthropic SDKs', header: 'user-agent', word: 'anthropic/', sends: 'Anthropic/Go 2.15.0' },
  { client: 'Anthropic SDKs', header: 'user-agent', word: 'asyncanthropic/', sends: 'AsyncAnthropic/Python 2.14.0' },
  {
    client: 'OpenRouter SDKs',
    header: 'user-agent',
    word: 'speakeasy-sdk/',
    sends: 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk',
  },
]

export const needsStatus = (headers: Headers): boolean =>
  STATUS_CLIENTS.some(({ header, word = '' }) => {
    const value = headers.get(header)
    return value !== null && ` ${value.toLowerCase()}`.includes(` ${word}`)
  })
