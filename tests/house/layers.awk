# The dependency law. A folder of src/ may use folders with a smaller number and itself. mode=include reads "FILE:LINE
# INCLUDED", mode=symbol reads the lines of `nm -A -g`, "PATH/src/FOLDER/FILE.c.o:ADDRESS TYPE NAME". Prints a line for
# each breach.
BEGIN {
    count = split("base points kernel tile operator plan solve function method data model cli", name, " ")
    for (i = 1; i <= count; i++) rank[name[i]] = i
}

function folder_of(path) {
    sub(/\/.*/, "", path)
    return path
}

function may_use(user, used) {
    return user == used || rank[used] < rank[user]
}

mode == "include" {
    user = folder_of($1)
    if (!(user in rank)) print "src/" $1 ": a folder that the dependency law does not know"
    sub(/^\.\.\//, "", $2)
    if ($2 ~ /\// && !(folder_of($2) in rank)) print "src/" $1 ": includes \"" $2 "\": no such folder in src/"
    else if ($2 ~ /\// && !may_use(user, folder_of($2)))
        print "src/" $1 ": includes \"" $2 "\", but " user " stands below " folder_of($2)
}

mode == "symbol" {
    path = $1
    sub(/\.o:.*/, "", path)
    sub(/.*\/src\//, "", path)
    if ($(NF - 1) == "U") uses[path " " $NF] = 1
    else if ($NF ~ /^gram_/) home[$NF] = folder_of(path)
}

END {
    for (key in uses) {
        split(key, part, " ")
        user = folder_of(part[1])
        if (part[2] in home && !may_use(user, home[part[2]]))
            print "src/" part[1] ": uses " part[2] ", but " user " stands below " home[part[2]]
    }
}
