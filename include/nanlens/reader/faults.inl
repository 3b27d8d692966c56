// clang-format off
// Part of fault.hpp: what can be wrong with a logdir, X(id, "English"). {name} is replaced. Translations have the same ids.

X(none, "")

// Around a fault
X(as_told, "{text}")
X(cut_name, "{text} ({n} bytes)")
X(not_listed, "{n} further faults are not listed")

// Why something can't be read
X(no_memory, "there is not enough memory")
X(it_shrank, "it has shrunk")
X(not_regular, "it is no regular file")
X(no_such_file, "there is no such file")
X(not_in_archive, "the archive has no such file")

// Archives, directories, and what programs left in their memory
X(of_archive, "{text}: {reason}")
X(archive_cut_off, "the archive is cut off")
X(archive_damaged, "the archive is damaged: {reason}")
X(archive_too_large, "the archive holds more than {n} MiB and has no seek table: unpack it and make an archive with 'nanlens pack', which opens at any size")
X(no_memory_to_unpack, "there is not enough memory to unpack the archive")
X(many_entries, "the directory has more than {n} entries: files beyond them are not looked for")
X(much_in_memory, "{name} is read up to {n} MiB: further events that it holds are not")

// Files and file sets
X(cant_open, "the file can't be opened: {reason}")
X(cant_read_on, "the file can't be read from here on: {reason}")
X(file_too_large, "the file is larger than 1 TiB: what lies beyond is not read")
X(cut_off, "the file ends within a record ({n} bytes of it are there)")
X(no_metadata, "there is no readable metadata: run id, version and start time are unknown")
X(metadata_too_large, "the metadata file is not read beyond this place")
X(other_version, "file version {version} instead of {expected}: read as if it were the latter")
X(too_many_sets, "the run has more than {n} file sets: this one is not read")
X(too_many_file_sets, "there are more than {n} file sets: further ones are not read")
X(no_memory_for_run, "there is not enough memory: the run is not read further")
X(no_memory_for_files, "there is not enough memory to look for more files")

// Records
X(bad_checksum, "the checksum of the record's payload does not match: the record is skipped")
X(record_too_large, "the record has {n} bytes, more than the {most} that are read: it is skipped")
X(damaged_header, "the header of the record is damaged: {n} bytes are skipped up to the next record")
X(damaged_next, "the header of the record is damaged, and no intact record follows in the next {n} bytes")
X(damaged_rest, "the header of the record is damaged, and no intact record follows in the remaining {n} bytes")
X(not_metadata, "the record is not a DebugMetadata event: it is skipped")
X(not_event, "the record is not a valid DebugEvent: it is skipped")
X(not_execution, "the record is not a valid Execution event: it is skipped")
X(not_trace, "the record is not a valid GraphExecutionTrace event: it is skipped")
X(wrong_file, "the record holds an event that does not belong into this file: it is skipped")
X(long_name, "the record holds a name of {n} bytes, more than the {most} that are read: it is skipped")
X(many_lines, "the record holds {n} lines or more: the rest is not read")
X(many_ops, "the record holds {n} instrumented ops or more: the rest is not read")
X(many_inputs, "the record holds {n} inputs or more: the rest is not read")
X(many_outputs, "the record holds {n} outputs or more: the rest is not read")
X(many_frames, "the record holds {n} stack frames or more: the rest is not read")
X(many_tensors, "the record holds {n} tensors or more: the rest is not read")
X(cut_tensor, "the record holds a tensor of more dimensions, or more listed values, than are read: nothing is known of it")

// What refers to what
X(graph_twice, "graph id {name} is used twice: the first one is kept")
X(graph_missing, "graph {name} is referred to but not on record")
X(graph_too_deep, "graph {name} is nested deeper than {n} graphs, or in itself: the outer ones are left out")
X(op_twice, "op {name} in graph {graph} is created twice: the first one is kept")
X(odd_input, "op {name} in graph {graph} has an input {input} that is not of the form op_name:slot")
X(op_missing, "op {name} has traces but its creation is not on record")
X(frame_twice, "stack frame id {name} is used twice: the first one is kept")
X(frame_missing, "stack frame {name} is referred to but not on record")
X(frame_without_file, "stack frame {name} refers to source file {n}, which is not on record")
X(frames_not_sought, "whether further stack frames are on record was not looked up")

// What a search for causes left out
X(search_left_out, "the search for causes left something out: {reason}")
X(many_op_inputs, "an op has more than {n} inputs: whether the others were bad is not known")
X(many_consumers, "a tensor has more than {n} consumers: whether the others removed what was bad is not known")
X(far_away, "what fed an input is more than {n} steps, or {most} functions, away: it is not known")
X(many_causes, "there are more than {n} causes: further ones are counted with the last of their op")
X(many_links, "an execution has {n} or more inputs or outputs: what the others lead to is not known")
