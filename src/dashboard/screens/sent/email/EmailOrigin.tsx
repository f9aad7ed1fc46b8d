import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import type { EmailOrigin as Origin } from './email-queries.ts'
import { emailStrings as strings } from './strings.ts'

type OriginRequest = NonNullable<Origin['request']>

/** The key and the request that made the email. */
export function EmailOrigin({ origin }: { readonly origin: Origin }) {
  const { api_key, request } = origin
  return (
    <KeyValues
      items={[
        [strings.key, <KeyName key="key" apiKey={api_key} />],
        [strings.request, <RequestLine key="request" request={request} />],
        request && [strings.client, <Client key="client" request={request} />],
      ]}
    />
  )
}

function KeyName({ apiKey }: { readonly apiKey: Origin['api_key'] }) {
  if (!apiKey) return <span className="text-faint">{strings.dashboard}</span>
  return (
    <span className="inline-flex items-center gap-2">
      <SafeText text={apiKey.name} />
      {apiKey.is_revoked && <Tag>{strings.revoked}</Tag>}
    </span>
  )
}

function RequestLine({ request }: { readonly request: OriginRequest | null }) {
  if (!request) return <span className="text-faint">{strings.noRequest}</span>
  return (
    <>
      <code className="font-mono text-xs">
        {request.method} {request.path} → {request.status}
      </code>{' '}
      <span className="text-faint">
        {request.duration_ms} ms, <Time at={request.created_at} show="full" />
      </span>
      <code className="block font-mono text-xs text-faint">{request.id}</code>
    </>
  )
}

function Client({ request }: { readonly request: OriginRequest }) {
  return (
    <>
      {request.ip}
      {request.user_agent && (
        <span className="text-faint">
          {' '}
          · <SafeText text={request.user_agent} />
        </span>
      )}
    </>
  )
}
