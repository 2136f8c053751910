/**
 * Schema version 1. Each queue's messages live in a rowid table of their own, `message_<queue.id>`,
 * created with its queue (see `messageTableSql`): best or near best of five layouts that were measured,
 * and its speed does not depend on how much is stored. `without rowid` only for small rows.
 */
export const SCHEMA_1 = `
create table store (
  id integer primary key check (id = 1),
  store_id integer not null,               -- 32 random bits; the first part of every message id
  created_at integer not null
) strict;

create table topic (
  id integer primary key autoincrement,    -- never used again: a topic made anew must not inherit offsets
  name text not null unique,
  queues integer not null check (queues > 0),
  hash text not null check (hash in ('java', 'fnv1a', 'jump')),
  retention_ms integer,
  max_body integer not null,
  perm integer not null check (perm in (2, 4, 6)),
  created_at integer not null
) strict;

create table queue (
  id integer primary key autoincrement,
  topic_id integer not null references topic (id) on delete cascade,
  queue_id integer not null,
  min_offset integer not null default 0,
  max_offset integer not null default 0,   -- the next offset; never taken from max(offset), which forgets emptied queues
  unique (topic_id, queue_id),
  check (min_offset between 0 and max_offset)
) strict;

create table consumer_group (
  id integer primary key autoincrement,
  name text not null unique,
  max_reconsume_times integer not null default -1,
  suspend_ms integer not null default 1000,
  consume_enable integer not null default 1,
  created_at integer not null
) strict;

create table client (
  client_id text primary key,
  pid integer not null,
  host text not null,
  boot_id text not null,
  pid_namespace text not null,
  start_time text not null,
  liveness text not null,                  -- file name within the liveness folder
  started_at integer not null
) strict, without rowid;

create table member (
  group_id integer not null references consumer_group (id) on delete cascade,
  client_id text not null,
  mode text not null check (mode in ('orderly', 'concurrent')),
  subscriptions text not null,             -- JSON, sorted by topic
  lock_ttl_ms integer not null,
  heartbeat_at integer not null,           -- wall clock, for people
  expires_mono real not null,              -- host's monotonic clock, with boot_id of its client
  primary key (group_id, client_id)
) strict, without rowid;

create table queue_lock (
  group_id integer not null references consumer_group (id) on delete cascade,
  queue_id integer not null references queue (id) on delete cascade,
  epoch integer not null,                  -- only grows; the row outlives its owners for that
  client_id text,                          -- null: free
  ttl_ms integer not null,
  acquired_at integer not null,
  renewed_at integer not null,
  expires_mono real not null,
  handler_pid integer,
  handler_start text,
  careful_until integer not null default 0,
  lost_by text check (lost_by in ('dead', 'expired', 'forced')), -- of a freed lock: how its owner lost it; null: it gave it back
  predecessor text not null check (predecessor in ('none', 'released', 'dead', 'expired', 'forced')),
  primary key (group_id, queue_id)
) strict, without rowid;

create table consumer_offset (
  group_id integer not null references consumer_group (id) on delete cascade,
  queue_id integer not null references queue (id) on delete cascade,
  committed_offset integer not null check (committed_offset >= 0),
  updated_at integer not null,
  primary key (group_id, queue_id)
) strict, without rowid;

create table attempt (
  group_id integer not null references consumer_group (id) on delete cascade,
  queue_id integer not null references queue (id) on delete cascade,
  offset integer not null,
  replay integer not null,                 -- 0: the live message; n: its n-th replay
  attempts integer not null,
  running integer not null,                -- 1: started, not settled; a crash leaves it so
  first_failed_at integer,
  last_error text,
  next_try_at integer,
  primary key (group_id, queue_id, offset, replay)
) strict, without rowid;

create table dead_letter (
  id integer primary key autoincrement,
  group_id integer not null references consumer_group (id) on delete cascade,
  topic text not null,                     -- origin; kept when the topic is deleted
  queue_row integer not null,              -- queue.id of the origin; not a reference, for the same reason
  queue_id integer not null,
  offset integer not null,
  msg_id text not null,
  key text,
  tags text,
  keys text,
  properties text,
  body blob not null,
  born integer not null,
  stored integer not null,
  attempts integer not null,
  last_error text,
  first_failed_at integer,
  dead_lettered_at integer not null,
  state text not null check (state in ('dead', 'parked', 'replayed')),
  replays integer not null default 0,
  replayed_at integer,
  settled_at integer,                      -- of the last replay; null while it waits in the redelivery lane
  unique (group_id, queue_row, offset)     -- one entry per message and group, whatever happens
) strict;

create index dead_letter_lane on dead_letter (group_id, queue_row, offset)
  where state = 'replayed' and settled_at is null;

create index dead_letter_order on dead_letter (group_id, topic, queue_id, offset);

create index dead_letter_msg_id on dead_letter (msg_id);

create table change (
  kind text primary key check (kind in ('rebalance', 'redelivery')),
  n integer not null
) strict, without rowid;
insert into change values ('rebalance', 0), ('redelivery', 0);
`

/**
 * A queue's messages. `age` is store time minus born time: nearly always one byte or none, where a second
 * stamp would cost six. \`properties\` is JSON, user and system properties together as RocketMQ keeps them,
 * null when there are none; \`keys\` is a JSON array, null when the ordering key is the only lookup key.
 */
export function messageTableSql(queueRow: number): string {
  return `create table message_${queueRow} (
    offset integer primary key,
    stored integer not null,
    age integer not null,
    key text,
    tags text,
    keys text,
    properties text,
    body blob not null
  ) strict`
}
