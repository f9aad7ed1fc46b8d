import type { components } from '../../api/v1.ts'
import { CopyField } from '../../components/actions/CopyField.tsx'
import { KeyValues } from '../../components/lists/KeyValues.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { isLinked, MadeLink } from './MadeLink.tsx'
import { toneOf } from './status-tone.ts'
import { requestStrings as strings } from './strings.ts'
import { useKeyNames } from './useKeyNames.ts'

interface RequestDialogProps {
  readonly request: components['schemas']['ApiRequest']
  readonly onClose: () => void
}

/** All that the log knows of a request. */
export function RequestDialog({ request, onClose }: RequestDialogProps) {
  const nameOf = useKeyNames()
  const { path } = request
  return (
    <Dialog isOpen onClose={onClose} title={strings.detailTitle}>
      <CopyField label={strings.id} value={request.id} />
      <div className="mt-4">
        <KeyValues
          items={[
            [
              strings.path,
              <span key="path" className="font-mono text-xs break-all">
                {request.method} <SafeText text={path} />
              </span>,
            ],
            [
              strings.status,
              <Status key="status" tone={toneOf(request.status)}>
                {request.status}
              </Status>,
            ],
            request.error_code ? [strings.error, request.error_code] : null,
            [strings.time, <Time key="time" at={request.created_at} show="full" />],
            [strings.took, strings.ms(request.duration_ms)],
            [strings.key, <SafeText key="key" text={nameOf(request.api_key_id)} />],
            [strings.address, <SafeText key="ip" text={request.ip} />],
            [strings.userAgent, <SafeText key="agent" text={request.user_agent} none={strings.none} />],
            request.client_request_id
              ? [strings.clientId, <SafeText key="client" text={request.client_request_id} />]
              : null,
            request.idempotent_replay ? [strings.replay, strings.replayed] : null,
            isLinked(request) ? [strings.made, <MadeLink key="made" request={request} />] : null,
          ]}
        />
      </div>
    </Dialog>
  )
}
