import { useQuery } from '@tanstack/react-query'
import { answer } from '../../api/client.ts'
import type { Scope } from '../../components/access/scopes.ts'
import { CopyField } from '../../components/actions/CopyField.tsx'
import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { keyStrings as strings } from './strings.ts'
import { tryLine } from './try-line.ts'

interface CreatedKeyViewProps {
  readonly apiKey: string
  readonly scopes: readonly Scope[]
  /** The brand that it is restricted to. */
  readonly brandId: string | null
}

/** The new key, once, with a command that uses it. */
export function CreatedKeyView({ apiKey, scopes, brandId }: CreatedKeyViewProps) {
  const { wholeApi, session, may } = useOrganization()
  const { data: domains, isPending } = useQuery({
    queryKey: ['domains', wholeApi.organizationId, null],
    queryFn: () => answer(wholeApi.v1.GET('/v1/domains')),
    enabled: may('domains:read'),
  })
  const ready = domains?.data.find(domain => domain.ready_to_send && (brandId === null || domain.brand_id === brandId))
  const line = tryLine({
    key: apiKey,
    scopes,
    origin: location.origin,
    domain: ready?.domain ?? null,
    to: session.user.email,
  })
  return (
    <div className="flex flex-col gap-5">
      <CopyField label={strings.key} value={apiKey} isShownOnce />
      {line && !(isPending && may('domains:read')) && (
        <div>
          <h3 className="mb-1 text-sm font-medium">{strings.tryIt}</h3>
          <CodeBlock label={strings.tryIt} code={line.code} />
          <p className="mt-1.5 text-sm text-muted">
            {line.kind === 'read' ? strings.reads : ready ? strings.sendsTo(session.user.email) : strings.noDomain}
          </p>
        </div>
      )}
    </div>
  )
}
