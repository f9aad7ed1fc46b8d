import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { queryKey } from '../../api/keys.ts'
import { Button } from '../../components/actions/Button.tsx'
import { TextLink } from '../../components/actions/TextLink.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { Stepper } from '../../components/layout/Stepper.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { RecordList } from './RecordCard.tsx'
import { domainStrings, newDomainStrings as strings } from './strings.ts'

/** A domain that is to be registered. */
interface Wanted {
  readonly domain: string
  readonly brandId: string
}

/** `/app/<organization>/domains/new`: name → TXT → the rest. */
export function NewDomainScreen() {
  const { organization } = useOrganization()
  const [wanted, setWanted] = useState<Wanted | null>(null)
  const name = {
    key: 'name',
    title: strings.stepName,
    state: wanted ? ('done' as const) : ('current' as const),
    note: wanted && (
      <span className="flex items-center gap-2">
        <span className="font-medium text-ink">{wanted.domain}</span>
        <Button kind="quiet" size="small" onClick={() => setWanted(null)}>
          {strings.change}
        </Button>
      </span>
    ),
    content: !wanted && <NameForm onName={setWanted} />,
  }
  const proof = {
    key: 'proof',
    title: strings.stepProof,
    state: wanted ? ('current' as const) : ('waits' as const),
    note: strings.proofNote,
    content: wanted && <Proof wanted={wanted} />,
  }
  const rest = { key: 'rest', title: strings.stepRest, state: 'waits' as const, note: strings.restNote }
  return (
    <div className="max-w-3xl">
      <PageHeader
        title={strings.title}
        back={
          <TextLink to="/$organization/domains" params={{ organization: organization.id }} search={true}>
            {domainStrings.back}
          </TextLink>
        }
      />
      <Stepper label={strings.title} steps={[name, proof, rest]} />
    </div>
  )
}

function NameForm({ onName }: { readonly onName: (wanted: Wanted) => void }) {
  const { organization, brand, wholeApi } = useOrganization()
  const [domain, setDomain] = useState('')
  const [brandId, setBrandId] = useState(brand?.id ?? organization.brands[0]?.id ?? '')
  // The server knows what a domain name is: its answer is that of the next step.
  const ask = useMutation({
    mutationFn: () =>
      answer(
        wholeApi.v1.GET('/v1/domains/ownership', { params: { query: { domain: domain.trim(), brand_id: brandId } } }),
      ),
    onSuccess: proof => onName({ domain: proof.domain, brandId: proof.brand_id }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask.mutate()
  }
  const error = errorOf(ask.error, 'domain')
  return (
    <form className="flex max-w-md flex-col gap-4" onSubmit={submit}>
      <TextInput
        label={strings.nameLabel}
        hint={strings.nameHint}
        error={error}
        isCode
        required
        autoFocus
        autoComplete="off"
        inputMode="url"
        maxLength={255}
        value={domain}
        onValue={setDomain}
      />
      {organization.brands.length > 1 && (
        <Select
          label={strings.brand}
          value={brandId}
          onValue={setBrandId}
          options={organization.brands.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      {ask.error && !error && <Refusal error={ask.error} />}
      <div>
        <Button type="submit" kind="primary" isBusy={ask.isPending}>
          {strings.next}
        </Button>
      </div>
    </form>
  )
}

function Proof({ wanted }: { readonly wanted: Wanted }) {
  const { organization, wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const query = { domain: wanted.domain, brand_id: wanted.brandId }
  const proof = useQuery({
    queryKey: queryKey('ownership', wholeApi, wanted.domain, wanted.brandId),
    queryFn: () => answer(wholeApi.v1.GET('/v1/domains/ownership', { params: { query } })),
  })
  const register = useMutation({
    mutationFn: () => answer(wholeApi.v1.POST('/v1/domains', { body: { ...query, publish_dns: true } })),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      await navigate({
        to: '/$organization/domains/$domain',
        params: { organization: organization.id, domain: id },
        search: ({ brand }) => (brand === undefined ? {} : { brand }),
      })
    },
    onError: () => void proof.refetch(),
  })
  return (
    <div className="flex flex-col gap-3">
      {proof.error && <Refusal error={proof.error} />}
      {proof.data && <RecordList records={[proof.data.ownership.record]} />}
      {register.error && <Refusal error={register.error} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="primary" isBusy={register.isPending} onClick={() => register.mutate()}>
          {strings.check}
        </Button>
        <span className="text-sm text-muted">{strings.slow}</span>
      </div>
    </div>
  )
}
