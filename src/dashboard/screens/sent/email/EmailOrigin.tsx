import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import type { EmailOrigin as Origin } from './email-queries.ts'
import { emailStrings as strings } from './strings.ts'

/** The key and the request that made the email. */
export function EmailOrigin({ origin }: { readonly origin: Origin }) {
  const { api_key: key, request } = origin
  return (
    <KeyValues
      items={[
        [
          strings.key,
          key ? (
            <span className="inline-flex items-center gap-2">
              <SafeText text={key.name} />
              {key.is_revoked && <Tag>{strings.revoked}</Tag>}
            </span>
          ) : (
            <span className="text-faint">{strings.dashboard}</span>
          ),
        ],
        [
          strings.request,
          request ? (
            <span>
              <code className="font-mono text-xs">
                {request.method} {request.path} → {request.status}
              </code>{' '}
              <span className="text-faint">
                {request.duration_ms} ms, <Time at={request.created_at} show="full" />
              </span>
              <br />
              <code className="font-mono text-xs text-faint">{request.id}</code>
            </span>
          ) : (
            <span className="text-faint">{strings.noRequest}</span>
          ),
        ],
        request && [
          strings.client,
          <span key="client">
            {request.ip}
            {request.user_agent && (
              <span className="text-faint">
                {' '}
                · <SafeText text={request.user_agent} />
              </span>
            )}
          </span>,
        ],
      ]}
    />
  )
}
