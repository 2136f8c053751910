/**
 * SQL: whether the group is done with an offset, by its row `o` of `consumer_offset`; 0 where there is no row. Ranges
 * that cannot be read hold nothing here: they are a violation of their own.
 */
export function isDoneSql(offset: string): string {
  return `(coalesce(${offset} < o.committed_offset, 0) or exists (
    select 1 from json_each(iif(json_valid(o.ahead), o.ahead, '[]')) r
    where case r.type when 'array' then r.value ->> 0 <= ${offset} and ${offset} < r.value ->> 1 end))`
}
