import { expect, test } from 'bun:test'
import type { Instant } from '../../../src/base/clock.ts'
import type { DnsProvider, Zone, ZoneRecord } from '../../../src/ports/dns-zone/port.ts'

/** A DNS provider to test, and names in its zones: no records are at or below `under` yet. */
export interface ProviderUnderTest {
  readonly provider: DnsProvider
  /** A name in a zone that may be changed. */
  readonly under: string
  /** A name in no zone of the provider. */
  readonly elsewhere: string
}

const base = { priority: null, ttlSeconds: 300 } as const

/** Tests what src/ports/dns-zone/port.ts asks of every adapter. */
export function zoneContract(name: string, open: () => ProviderUnderTest): void {
  let count = 0

  async function fresh(): Promise<{ zone: Zone; here: string }> {
    const { provider, under } = open()
    const zone = await provider.findZone(under)
    if (!zone) throw new Error(`no zone holds ${under}`)
    return { zone, here: `n${count++}.${under}` }
  }
  const a = (at: string, value = '192.0.2.1'): ZoneRecord => ({ ...base, type: 'A', name: at, value })
  const txt = (at: string, value: string): ZoneRecord => ({ ...base, type: 'TXT', name: at, value })
  const cname = (at: string): ZoneRecord => ({ ...base, type: 'CNAME', name: at, value: 'host.example' })

  test(`${name}: finds the zone that holds a name, and none for a name elsewhere`, async () => {
    const { provider, under, elsewhere } = open()
    const zone = await provider.findZone(under.toUpperCase())
    expect(under.endsWith(`.${zone?.apex}`)).toBe(true)
    expect(await provider.findZone(elsewhere)).toBeNull()
  })

  test(`${name}: returns what was written, with its mark, at its name and under the names above it`, async () => {
    const { zone, here } = await fresh()
    const record = { ...txt(`a.${here}`, '"x" \\; ü '.repeat(80)), ttlSeconds: 60 }
    const written = await zone.create(record, 'mark 1')
    expect(written).toMatchObject({ kind: 'written', record: { ...record, mark: 'mark 1', id: expect.any(String) } })
    await zone.create({ ...base, type: 'MX', name: here, value: 'mx.example', priority: 0 }, null)
    expect(await zone.recordsAt(`a.${here}`)).toMatchObject([{ ...record, mark: 'mark 1' }])
    expect(await zone.recordsAt(here)).toMatchObject([{ type: 'MX', value: 'mx.example', priority: 0, mark: null }])
    expect((await zone.recordsUnder(here)).map(record => record.name).toSorted()).toEqual([`a.${here}`, here])
    expect(await zone.recordsUnder(`a.${here}`)).toHaveLength(1)
  })

  test(`${name}: compares names by whole labels, and takes wildcards and underscores literally`, async () => {
    const { zone, here } = await fresh()
    for (const at of [`*.${here}`, `_x.${here}`, `yx.${here}`, `x${here}`, `a.b.${here}`])
      await zone.create(a(at), null)
    expect(await zone.recordsAt(`_x.${here}`)).toHaveLength(1)
    expect(await zone.recordsUnder(`_x.${here}`)).toHaveLength(1)
    expect(await zone.recordsAt(`*.${here}`)).toHaveLength(1)
    expect(await zone.recordsAt(`z.${here}`)).toEqual([])
    expect(await zone.recordsUnder(here)).toHaveLength(4)
  })

  test(`${name}: stores the same record once, also when it is written several times at once`, async () => {
    const { zone, here } = await fresh()
    const written = await Promise.all([1, 2, 3, 4].map(n => zone.create(a(here), `mark ${n}`)))
    expect(written.map(writeResult => writeResult.kind).toSorted()).toEqual(['exists', 'exists', 'exists', 'written'])
    const [existing, ...more] = await zone.recordsAt(here)
    expect(more).toEqual([])
    for (const writeResult of written)
      expect(writeResult).toMatchObject({ record: { id: existing?.id, mark: existing?.mark } })
    expect(await zone.create(a(here, '192.0.2.2'), null)).toMatchObject({ kind: 'written' })
  })

  test(`${name}: lets nothing stand beside a CNAME, also when both are written at once`, async () => {
    const { zone, here } = await fresh()
    const kinds = (await Promise.all([zone.create(a(here), null), zone.create(cname(here), null)])).map(
      writeResult => writeResult.kind,
    )
    expect(kinds.toSorted()).toEqual(['conflict', 'written'])
    await zone.create(cname(`c.${here}`), null)
    expect(await zone.create(txt(`c.${here}`, 'x'), null)).toMatchObject({
      kind: 'conflict',
      existing: [{ type: 'CNAME' }],
    })
    const other = await zone.create(a(`o.${here}`), null)
    const moved = other.kind === 'written' ? await zone.update(other.record.id, a(`c.${here}`), null) : undefined
    expect(moved?.kind).toBe('conflict')
    expect(await zone.recordsAt(`o.${here}`)).toHaveLength(1)
  })

  test(`${name}: changes a record under its id`, async () => {
    const { zone, here } = await fresh()
    const created = await zone.create(a(here), 'mark')
    if (created.kind !== 'written') throw new Error(created.kind)
    const { id } = created.record
    const changed = { ...a(`b.${here}`, '192.0.2.9'), ttlSeconds: 900 }
    expect(await zone.update(id, changed, 'mark 2')).toMatchObject({
      kind: 'written',
      record: { ...changed, id, mark: 'mark 2' },
    })
    expect(await zone.recordsAt(here)).toEqual([])
    expect(await zone.recordsAt(`b.${here}`)).toMatchObject([{ ...changed, id, mark: 'mark 2' }])
    expect(await zone.update(id, { ...changed, ttlSeconds: 60 }, null)).toMatchObject({ kind: 'written' })
    const twin = await zone.create(a(here), null)
    if (twin.kind !== 'written') throw new Error(twin.kind)
    expect(await zone.update(twin.record.id, changed, null)).toMatchObject({ kind: 'exists', record: { id } })
    expect(await zone.recordsAt(here)).toMatchObject([{ value: '192.0.2.1' }])
  })

  test(`${name}: leaves a record that was changed since it was read`, async () => {
    const { zone, here } = await fresh()
    await zone.create(a(here), 'mark')
    const [read] = await zone.recordsAt(here)
    if (!read) throw new Error('not created')
    const first = { ...a(here, '192.0.2.8'), ttlSeconds: 900 }
    const update = (record: ZoneRecord, readAs: Instant | null) => zone.update(read.id, record, 'mark', readAs)
    expect(await update(first, read.updatedAt)).toMatchObject({ kind: 'written', record: first })
    const [now] = await zone.recordsAt(here)
    if (!now) throw new Error('gone')
    expect(now.updatedAt).not.toBe(read.updatedAt)
    expect(await update(a(here, '192.0.2.9'), read.updatedAt)).toEqual({ kind: 'changed', record: now })
    expect(await update(a(here, '192.0.2.9'), null)).toEqual({ kind: 'changed', record: now })
    expect(await zone.recordsAt(here)).toEqual([now])
    expect(await update(a(here, '192.0.2.9'), now.updatedAt)).toMatchObject({ kind: 'written' })
  })

  test(`${name}: deletes a record, and accepts that it is not there`, async () => {
    const { zone, here } = await fresh()
    const created = await zone.create(a(here), null)
    if (created.kind !== 'written') throw new Error(created.kind)
    const { id } = created.record
    await Promise.all([zone.remove(id), zone.remove(id)])
    expect(await zone.recordsAt(here)).toEqual([])
    await zone.remove(id)
    expect(await zone.update(id, a(here), null)).toBeUndefined()
    expect(await zone.create(a(here), null)).toMatchObject({ kind: 'written' })
  })
}
