/**
 * Schema version 2: delayed messages, concurrent consumption, broadcasting, parked keys, barriers, the journal.
 * As in version 1, `queue_id` refers to `queue.id`, except in `dead_letter`.
 */
export const SCHEMA_2 = `
create table delayed_message (
  id integer primary key autoincrement,
  due_at integer not null,                 -- wall clock
  queue_id integer not null references queue (id) on delete cascade,
  born integer not null,
  key text,
  tags text,
  keys text,
  properties text not null,                -- its id as UNIQ_KEY is always among them
  body blob not null
) strict;
create index delayed_message_due on delayed_message (due_at, id);
create index delayed_message_queue on delayed_message (queue_id);

-- JSON of DoneRange[]: what the group is done with beyond the committed offset; null: nothing
alter table consumer_offset add column ahead text;

create table broadcast_offset (
  group_id integer not null references consumer_group (id) on delete cascade,
  client_id text not null,
  queue_id integer not null references queue (id) on delete cascade,
  committed_offset integer not null check (committed_offset >= 0),
  updated_at integer not null,
  primary key (group_id, client_id, queue_id)
) strict, without rowid;

create table parked_key (
  group_id integer not null references consumer_group (id) on delete cascade,
  queue_id integer not null references queue (id) on delete cascade,
  key text not null,
  primary key (group_id, queue_id, key)
) strict, without rowid;

-- its original round came again by a reset of offsets; null: it did not
alter table dead_letter add column reset_at integer;

create index dead_letter_key on dead_letter (group_id, queue_row, key, offset)
  where state in ('dead', 'parked') and reset_at is null;

alter table member add column message_model text not null default 'clustering'
  check (message_model in ('clustering', 'broadcasting'));
-- name of its allocation strategy
alter table member add column allocate text not null default 'averagely';
-- JSON of ConsumerStatus; null: it told nothing
alter table member add column status text;

alter table consumer_group add column trace integer not null default 0;

create table lock_handler (
  group_id integer not null,
  queue_id integer not null,
  slot integer not null,                   -- handlers that run at once each have one
  pid integer not null,
  start_time text not null,
  primary key (group_id, queue_id, slot),
  foreign key (group_id, queue_id) references queue_lock (group_id, queue_id) on delete cascade
) strict, without rowid;
insert into lock_handler
  select group_id, queue_id, 0, handler_pid, handler_start from queue_lock where handler_pid is not null;
alter table queue_lock drop column handler_pid;
alter table queue_lock drop column handler_start;

create table barrier (
  id integer primary key autoincrement,
  topic_id integer not null references topic (id) on delete cascade,
  from_queues integer not null,
  to_queues integer not null,
  created_at integer not null
) strict;
create index barrier_topic on barrier (topic_id);

-- where the barrier is in each queue there was; a queue made with it, or later, lies behind it as a whole
create table barrier_queue (
  barrier_id integer not null references barrier (id) on delete cascade,
  queue_id integer not null references queue (id) on delete cascade,
  offset integer not null,
  primary key (barrier_id, queue_id)
) strict, without rowid;

create table delivery (
  id integer primary key autoincrement,
  group_id integer not null references consumer_group (id) on delete cascade,
  queue_id integer not null references queue (id) on delete cascade,
  offset integer not null,
  replay integer not null,
  msg_id text not null,
  event text not null,
  attempt integer not null,
  client_id text not null,
  epoch integer not null,
  -- what its consumer keeps in order: all messages of a queue, those of a key, nothing
  ordering text not null check (ordering in ('queue', 'key', 'none')),
  run integer not null,                    -- id of the first delivery that was recorded with it: a batch is one run
  error text,
  at integer not null
) strict;
create index delivery_msg_id on delivery (msg_id, id);
create index delivery_place on delivery (group_id, queue_id, id);

-- the last consumer that was refused by a group, for its members to hear of
create table refusal (
  group_id integer primary key references consumer_group (id) on delete cascade,
  text text not null,
  n integer not null                       -- grows: members tell each once
) strict;
`
