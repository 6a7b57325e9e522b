# Reads the public beam_agents.proto and writes the copy that protoc-c compiles.
#
# Two things differ, and neither changes the wire: every string becomes length-delimited binary data
# (string_as_bytes), because a C string cannot hold a NUL; and the map is spelled as its wire form,
# a repeated message of key and value, because protoc-c ignores the option on a map.
#
# A map of other types, or a string declared over more than one line, stops the script: it would
# come out as a C string without notice.

function camel(name,    count, parts, i, result) {
  count = split(name, parts, "_")
  result = ""
  for (i = 1; i <= count; i++) {
    result = result toupper(substr(parts[i], 1, 1)) substr(parts[i], 2)
  }
  return result
}

function refuse(what) {
  print FILENAME ":" FNR ": " what > "/dev/stderr"
  failed = 1
  exit 1
}

BEGIN {
  as_bytes = " [(pb_c_field).string_as_bytes = true];"
  print "// Derived from protos/beam_agents.proto by scripts/gen_proto.sh. Do not edit."
}

# A comment that stands alone is for readers of the public file.
/^ *\/\// { next }

/^package / {
  print
  print "import \"protobuf-c/protobuf-c.proto\";"
  next
}

/^ *map< *string *, *string *> *[a-z0-9_]+ *= *[0-9]+ *;/ {
  field = $0
  sub(/^ *map<[^>]*> */, "", field)
  number = field
  sub(/ *=.*/, "", field)
  sub(/^[^=]*= */, "", number)
  sub(/ *;.*/, "", number)
  entry = camel(field) "Entry"
  print "  message " entry " {"
  print "    string key = 1" as_bytes
  print "    string value = 2" as_bytes
  print "  }"
  print "  repeated " entry " " field " = " number ";"
  next
}

/^ *map *</ { refuse("this type of map is not handled") }

/^ *(repeated +)?string +[a-z0-9_]+ *= *[0-9]+ *;/ {
  sub(/ *;.*/, as_bytes)
  print
  next
}

/(^|[^a-z0-9_])string[^a-z0-9_]/ {
  refuse("a string field must stand on one line, without options")
}

{ print }

END { if (failed) { exit 1 } }
